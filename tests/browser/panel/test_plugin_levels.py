"""The levels of plugins: for all their tools without a level of their own, set from the panel."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import load
from tests.plugins.homes import home_with, review
from tests.plugins.packages import tool
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, connected
from tests.support.serving import client, served

TOOLS = {"tools": [tool("add"), tool("list")]}
Setup = tuple[Home, Agent, FakeExtension]


@pytest.fixture
async def setup(tmp_path: Path) -> AsyncIterator[Setup]:
    """A server with a reviewed plugin that has no level, its browser, and an agent."""
    home = home_with(tmp_path, "demo", tools=TOOLS)
    review(home, "demo", None)
    async with (
        served(load(home), home=home) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        yield home, Agent(http), extension


async def decisions(agent: Agent) -> list[str]:
    found = [await agent.call("permissions_check", tool=f"demo_{name}") for name in ("add", "list")]
    return [each["decision"] for each in found]


async def set_level(extension: FakeExtension, level: str | None) -> None:
    params = {"plugin": "demo", "permission": level}
    assert "result" in await extension.ask("config.setPluginPermission", params)


def levels(home: Home) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(home.config.read_text()).get("permissions", {})
    return found


@pytest.mark.requirement("OT-45", "OT-47")
@pytest.mark.document("OT-received-8")
async def test_the_panel_sets_the_level_of_all_tools_of_a_plugin(setup: Setup) -> None:
    home, agent, extension = setup
    assert await decisions(agent) == ["deny", "deny"]
    for level, decision in (("auto", "allow"), ("ask", "ask"), ("off", "deny")):
        await set_level(extension, level)
        assert await decisions(agent) == [decision, decision]
        assert levels(home)["plugins"] == {"demo": level}
    await set_level(extension, "auto")
    await set_level(extension, None)
    assert await decisions(agent) == ["deny", "deny"]
    assert levels(home).get("plugins", {}) == {}


@pytest.mark.requirement("OT-45")
async def test_a_tool_with_a_level_of_its_own_keeps_it(setup: Setup) -> None:
    _, agent, extension = setup
    own = {"plugin": "demo", "tool": "demo_add", "permission": "ask"}
    assert "result" in await extension.ask("config.setToolPermission", own)
    for level, decision in (("auto", "allow"), ("off", "deny"), (None, "deny")):
        await set_level(extension, level)
        assert await decisions(agent) == ["ask", decision]


@pytest.mark.requirement("OT-45")
async def test_browsers_get_no_code_of_a_plugin_that_is_off(setup: Setup) -> None:
    _, _, extension = setup
    await set_level(extension, "ask")
    update = await extension.next("plugin.update")
    assert update["params"]["plugin"]["name"] == "demo"
    await set_level(extension, "off")
    assert (await extension.next("plugin.uninstall"))["params"] == {"name": "demo"}
