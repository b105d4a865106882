"""The settings in the panel: what is listed, how one is changed, and that no secret is shown."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.keys import names
from tabhub.config.paths import Home
from tabhub.config.setting_list import SECRET_KEYS, form_settings
from tabhub.config.settings import load
from tests.support.browsers.extension import FakeExtension, connected
from tests.support.serving import client, served

Json = dict[str, Any]
TOKEN = "a-token-of-twenty-four-signs"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home").create()
    config = {
        "mcpServer": {"authToken": TOKEN},
        "settings": {"slack": {"key": "a plugin's secret"}},
        "limits": {"callSeconds": 20},
    }
    made.config.write_text(json.dumps(config))
    return made


@pytest.fixture
async def extension(home: Home) -> AsyncIterator[FakeExtension]:
    async with served(load(home), home=home) as server, connected(server.port) as connection:
        yield connection


async def listed(extension: FakeExtension) -> dict[str, Json]:
    answer = await extension.ask("settings.list", {})
    return {one["key"]: one for one in answer["result"]["settings"]}


async def changed(extension: FakeExtension, key: Any, value: Any) -> Json:
    return await extension.ask("settings.set", {"key": key, "value": value})


def test_every_setting_is_in_the_form_but_secrets_and_those_with_chosen_names() -> None:
    left_out = {*names()} - form_settings().keys()
    levels = {f"permissions.{group}" for group in ("tools", "plugins", "domains", "workers")}
    assert left_out == {*SECRET_KEYS, *levels, "cache", "settings"}
    assert all(one.about.endswith(".") for one in form_settings().values())


async def test_each_setting_has_its_value_its_default_and_its_kind(
    extension: FakeExtension,
) -> None:
    settings = await listed(extension)
    call = settings["limits.callSeconds"]
    assert (call["value"], call["default"], call["type"]) == (20, 30, "number")
    assert call["about"] == "How many seconds a call may run without reporting progress."
    assert settings["unattended"]["choices"] == ["deny", "allow"]
    assert settings["unattended"]["type"] == "choice"
    assert settings["toolsets"]["type"] == "list" and "core" in settings["toolsets"]["choices"]
    assert settings["policyFile"]["type"] == "text"
    assert settings["audit.redact"]["type"] == "boolean"
    assert settings["mcpServer.port"]["type"] == "number"


async def test_no_secret_is_listed_changed_or_logged(extension: FakeExtension, home: Home) -> None:
    answer = await extension.ask("settings.list", {})
    assert TOKEN not in str(answer) and "plugin's secret" not in str(answer)
    for key in ("mcpServer.authToken", "settings", "settings.slack.key", "secret", "nothing"):
        refused = await changed(extension, key, "another-token-of-some-length")
        assert refused["error"]["data"]["reason"] == "invalid_arguments", key
    for odd in ({"key": 7, "value": 1}, {"key": ["x"], "value": "another-token-of-some-length"}):
        refused = await extension.ask("settings.set", odd)
        assert refused["error"]["data"]["reason"] == "invalid_params"
    assert json.loads(home.config.read_text())["mcpServer"] == {"authToken": TOKEN}
    assert "another-token-of-some-length" not in home.audit.read_text()


async def test_a_change_is_written_and_applied_and_null_is_the_default(
    extension: FakeExtension, home: Home
) -> None:
    assert (await changed(extension, "unattended", "allow"))["result"] == {"waits": False}
    assert json.loads(home.config.read_text())["unattended"] == "allow"
    assert (await extension.state())["unattended"] == "allow"
    await changed(extension, "unattended", None)
    assert "unattended" not in json.loads(home.config.read_text())
    assert (await extension.state())["unattended"] == "deny"
    rows = (await extension.ask("audit.list", {"tool": "settings.set"}))["result"]["rows"]
    words = [row["words"] for row in rows]
    assert words == ["you reset unattended", "you set unattended to allow"]


async def test_a_setting_for_the_next_start_waits_and_says_so(extension: FakeExtension) -> None:
    answer = await changed(extension, "limits.callSeconds", 25)
    assert answer["result"] == {"waits": True}
    shown = (await listed(extension))["limits.callSeconds"]
    assert (shown["value"], shown["waits"], shown["lockedBy"]) == (25, True, None)
    assert not (await listed(extension))["unattended"]["waits"]


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("limits.callSeconds", "soon", "limits.callSeconds must be a number above 0"),
        ("limits.callSeconds", -1, "limits.callSeconds must be"),
        ("limits.callSeconds", 100_000, "must not be above limits.maxCallSeconds"),
        ("unattended", "maybe", "unattended must be deny or allow"),
        ("toolsets", ["nonsense"], "nonsense"),
        ("pageOrigins", ["not an origin"], "pageOrigins must be"),
        ("host", "0.0.0.0", "host must be 127.0.0.1"),
        ("policyFile", "/nowhere/policy.toml", "/nowhere/policy.toml"),
        ("downloads.folder", "relative", "full path"),
    ],
)
async def test_a_wrong_value_is_refused_and_nothing_changes(
    extension: FakeExtension, home: Home, key: str, value: Any, sentence: str
) -> None:
    before = home.config.read_text()
    refused = await changed(extension, key, value)
    assert sentence in refused["error"]["message"]
    assert home.config.read_text() == before


async def test_what_a_flag_decides_cannot_be_changed(home: Home) -> None:
    async with (
        served(load(home), home=home, dev=True) as server,
        connected(server.port) as extension,
    ):
        settings = await listed(extension)
        assert settings["dev"]["lockedBy"] == "a flag of `tabhub start`"
        assert settings["port"]["lockedBy"] == "--port or TABHUB_PORT"
        refused = await changed(extension, "dev", False)
        assert "flag" in refused["error"]["message"]


async def test_a_server_without_a_home_lists_and_changes_nothing() -> None:
    async with served() as server, connected(server.port) as extension:
        assert (await listed(extension))["limits.callSeconds"]["value"] == 30
        refused = await changed(extension, "unattended", "allow")
        assert refused["error"]["data"]["reason"] == "invalid_arguments"


async def test_an_agent_cannot_ask_for_settings(home: Home) -> None:
    async with served(load(home), home=home) as server, client(server.port) as http:
        body = {"jsonrpc": "2.0", "id": 1, "method": "settings.list", "params": {}}
        assert "result" not in (await http.post("/mcp", json=body)).text
