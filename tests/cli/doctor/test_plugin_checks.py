"""What `tabhub doctor` says about plugins, from the health of the running server."""

from pathlib import Path
from typing import Any, get_args

import pytest

from tabhub.cli.doctor.finding import Inspection
from tabhub.cli.doctor.plugin_checks import ADVICE, plugins
from tabhub.cli.own_program import program_text
from tabhub.config.paths import Home
from tabhub.plugins.readiness import Word


def findings(home: Path, **health: Any) -> list[tuple[str, str, str]]:
    inspection = Inspection(Home(home))
    inspection.__dict__["server"] = health or None
    return [(found.level, found.says, str(found.do or "")) for found in plugins(inspection)]


def details(reason: str | None, *ready: bool) -> dict[str, Any]:
    return {"name": "notes", "reason": reason, "tabs": [{"ready": is_ready} for is_ready in ready]}


def test_every_reason_has_its_advice() -> None:
    assert {*ADVICE, "no_tab"} == {*get_args(Word)}


@pytest.mark.parametrize(
    ("found", "level", "words"),
    [
        (details(None, True, False), "ok", "ready in 1 of 2 tabs"),
        (details("no_tab"), "ok", "no_tab"),
        (details("off", False), "ok", "off"),
        (details("not_reviewed"), "ok", "plugin review notes"),
        (details("not_ready", False), "ok", "log in"),
        (details("threw", False), "warn", "threw"),
        (details("needs_reload", False), "warn", "reload the tab"),
        (details("not_injected", False), "warn", "not_injected"),
    ],
)
def test_a_plugin_is_reported_with_its_reason(
    tmp_path: Path, found: dict[str, Any], level: str, words: str
) -> None:
    [(actual, says, do)] = findings(tmp_path, pluginDetails=[found])
    assert actual == level
    assert words in says + do


def test_a_required_setting_that_is_not_set_is_named_with_the_command(tmp_path: Path) -> None:
    unset = {"missingSettings": ["site", "token"]}
    for found in (details("no_tab"), details(None, True)):
        [(level, says, do)] = findings(tmp_path, pluginDetails=[{**found, **unset}])
        assert (level, do) == ("warn", f"{program_text()} plugin configure notes")
        assert "site, token" in says
    for reason in ("off", "not_reviewed"):
        [(_, says, _)] = findings(tmp_path, pluginDetails=[{**details(reason), **unset}])
        assert reason in says


def test_plugins_that_were_not_loaded_are_named_and_nothing_without_a_server(
    tmp_path: Path,
) -> None:
    failed = {"path": "/plugins/bad", "error": "package.json is empty."}
    assert findings(tmp_path, failedPlugins=[failed]) == [
        ("warn", "/plugins/bad: package.json is empty.", "repair or remove the plugin")
    ]
    assert findings(tmp_path) == []
