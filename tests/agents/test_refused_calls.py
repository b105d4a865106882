"""Refused calls in the audit log: the attempted arguments, shortened and without secrets."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tabhub.audit.entry import REFUSED_BYTES
from tabhub.audit.files import read
from tabhub.audit.limits import UNFOLDED
from tabhub.audit.redaction import MARK
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.server.serving import Server
from tests.support.serving import client, served

pytestmark = pytest.mark.requirement("OT-12")
Setting = tuple[Server, httpx.AsyncClient, Home]


@pytest.fixture
async def setting(tmp_path: Path) -> AsyncIterator[Setting]:
    home = Home(tmp_path / "home").create()
    token = Clients(home).add("ann")
    async with served(home=home) as server, client(server.port, token) as http:
        yield server, http, home


async def call(setting: Setting, tool: str, arguments: Any) -> dict[str, Any]:
    """The audit entry of one call."""
    server, http, _ = setting
    await http.post(f"/tools/{tool}/call", json={"arguments": arguments})
    entry: dict[str, Any] = server.app.audit.entries(limit=1)[0]
    assert entry["tool"] == tool
    return entry


async def test_invalid_arguments_and_those_of_unknown_tools_are_logged(
    setting: Setting,
) -> None:
    arguments = {"url": "https://a.example/", "more": [1, True]}
    for tool in ("browser_open_tab", "browser_opentab"):
        entry = await call(setting, tool, arguments)
        assert entry["success"] is False and entry["arguments"] == arguments


@pytest.mark.parametrize("secret", ["correct horse", 7235981, ["correct horse"], {"a": 7235981}])
@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("browser_type_text", "text"),
        ("browser_typetext", "text"),
        ("browser_select_option", "value"),
        ("computer", "text"),
        ("login", "password"),
    ],
)
async def test_secrets_are_redacted_in_invalid_calls_too(
    setting: Setting, tool: str, name: str, secret: Any
) -> None:
    entry = await call(setting, tool, {name: secret, "nonsense": 1})
    assert entry["success"] is False
    assert entry["arguments"] == {name: MARK, "nonsense": 1}
    written = setting[2].audit.read_text()
    assert "correct horse" not in written and "7235981" not in written


@pytest.mark.parametrize("arguments", ["correct horse", ["correct horse"], 7, True])
async def test_only_the_type_of_unnamed_arguments_is_logged(
    setting: Setting, arguments: Any
) -> None:
    entry = await call(setting, "browser_type_text", arguments)
    assert list(entry["arguments"]) == ["cut"]
    assert "horse" not in setting[2].audit.read_text()


@pytest.mark.parametrize(
    "arguments",
    [{"note": "word " * 10_000}, {f"k{n}": "word " * 10 for n in range(200)}, {"x": "y" * 200_000}],
)
async def test_large_arguments_are_shortened(setting: Setting, arguments: dict[str, str]) -> None:
    entry = await call(setting, "browser_open_tab", arguments)
    assert len(json.dumps(entry)) < REFUSED_BYTES
    assert len(setting[2].audit.read_bytes()) < REFUSED_BYTES


async def test_a_flood_of_refused_calls_does_not_push_out_successful_ones(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine is, the whole flood counts as one minute.
    monkeypatch.setattr("tabhub.audit.limits.FOLD_SECONDS", 3600.0)
    server, http, home = setting
    await call(setting, "permissions_check", {})
    attempts = ("no_such_tool", "browser_open_tab", "browser_list_tabs")
    for number in range(UNFOLDED * 4):
        name = attempts[number % 3]
        await http.post(f"/tools/{name}/call", json={"arguments": {"a": "b" * (number % 3 == 1)}})
    for _ in range(20):
        await http.get("/audit")
    entries = server.app.audit.entries()
    assert entries[-1]["tool"] == "permissions_check"
    assert len(entries) < UNFOLDED + 10
    assert sum(entry.get("times", 1) for entry in entries) == 1 + UNFOLDED * 4 + 20
    assert len(list(read(home.audit))) == len(entries)
