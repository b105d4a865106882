"""Which tools an agent sees: chosen by toolset, and marked when they are disabled."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.config.settings import load as load_settings
from tests.agents.mcp.clients import Client, LoneClient, connect, events, next_message
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served
from tests.support.tools import in_toolset

Json = dict[str, Any]
SCRIPT = "browser_execute_script"
CLAUDE = in_toolset("claude")


def off(tool: str) -> Settings:
    return Settings(permissions=PermissionSettings(tools={tool: "off"}))


async def listed(agent: Agent | Client) -> dict[str, str]:
    """Descriptions by name."""
    ask = agent.post if isinstance(agent, Agent) else agent.request
    tools = (await ask("tools/list")).json()["result"]["tools"]
    return {tool["name"]: tool["description"] for tool in tools}


@pytest.mark.document("OT-modes-1")
@pytest.mark.parametrize(
    ("query", "core", "claude"),
    [
        ("", True, False),
        ("?toolsets=claude", False, True),
        ("?toolsets=core,claude", True, True),
        ("?toolsets=core&toolsets=claude", True, True),
        ("?toolsets=all", True, True),
        ("?toolsets=pages", False, False),
    ],
)
async def test_the_address_chooses_which_toolsets_are_listed(
    query: str, core: bool, claude: bool
) -> None:
    async with served() as server, client(server.port) as http:
        names = set(await listed(Agent(http, f"/mcp{query}")))
    assert (SCRIPT in names, CLAUDE <= names) == (core, claude)


async def test_a_session_keeps_the_toolsets_of_the_address_it_began_at(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    async with served(home=home) as server, client(server.port) as http:
        http.params = httpx.QueryParams(toolsets="claude")
        session = await connect(http)
        http.params = httpx.QueryParams()
        assert set(await listed(session)) == CLAUDE
    async with served(home=home) as server, client(server.port) as http:
        session.http = http
        assert set(await listed(session)) == CLAUDE


async def test_the_settings_choose_the_toolsets_where_the_address_does_not() -> None:
    async with served(Settings(toolsets=["claude"])) as server, client(server.port) as http:
        assert set(await listed(Agent(http))) == CLAUDE
        assert SCRIPT in await listed(Agent(http, "/mcp?toolsets=core"))


@pytest.mark.document("OT-modes-1")
async def test_an_unlisted_tool_can_still_be_called() -> None:
    async with served() as server, client(server.port) as http:
        agent = Agent(http, "/mcp?toolsets=pages")
        assert {*await listed(agent)} == {"list_browser_tabs"}
        assert (await agent.call("permissions_check", tool=SCRIPT))["decision"] == "allow"


INFO = {"name": "x", "version": "1"}


@pytest.mark.parametrize("query", ["?toolsets=cor", "?toolsets=core,", "?toolsets=core,CLAUDE"])
async def test_an_unknown_toolset_is_an_error_that_names_the_known_ones(query: str) -> None:
    async with served() as server, client(server.port) as http:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": INFO}
        request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        for answer in (
            await Agent(http, f"/mcp{query}").post("tools/list"),
            await http.post(f"/mcp{query}", json=request),
            await http.post(f"/mcp/gateway{query}", json=request),
            await http.get(f"/sse{query}"),
        ):
            assert answer.status_code == 400
            error = answer.json()["error"]
            assert error.get("data", error)["reason"] == "invalid_arguments"
            assert "There is no toolset" in error["message"] and "claude" in error["message"]
        assert len(server.app.mcp.sessions) == len(server.app.gateway.sessions) == 0


@pytest.mark.document("OT-modes-2")
@pytest.mark.requirement("OT-33")
async def test_a_disabled_tool_is_marked_and_refused() -> None:
    async with (
        served(off(SCRIPT)) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(tab(1))
        descriptions = await listed(Agent(http))
        marked = {name for name, text in descriptions.items() if text.startswith("[Disabled] ")}
        assert marked == {SCRIPT}
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call(SCRIPT, code="1", tabId=1)
    assert failed.value.reason == "permission_off"
    assert f"permissions.tools.{SCRIPT} = off" in failed.value.message


@pytest.mark.document("OT-modes-2")
@pytest.mark.requirement("OT-33")
async def test_a_disabled_family_is_marked_except_a_tool_with_its_own_level() -> None:
    levels = PermissionSettings(plugins={"browser": "off"}, tools={SCRIPT: "ask"})
    async with served(Settings(permissions=levels)) as server, client(server.port) as http:
        descriptions = await listed(Agent(http))
    unmarked = {name for name, text in descriptions.items() if not text.startswith("[Disabled] ")}
    assert unmarked == {SCRIPT}


@pytest.mark.document("OT-received-7")
@pytest.mark.requirement("OT-33")
async def test_a_decision_in_the_panel_changes_the_list_notifies_agents_and_is_saved(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home").create()
    before = {"later": {"x": [1]}, "permissions": {"domains": {"a.example": "off"}, "new": 1}}
    home.config.write_text(json.dumps(before))
    async with (
        served(load_settings(home), home=home) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        session, subscription = await connect(http), {"notifications": {"toolsListChanged": True}}
        async with (
            session.listening() as old,
            LoneClient(http).streaming("subscriptions/listen", subscription) as new,
        ):
            streams = [events(old), events(new)]
            await next_message(streams[1])
            for level, is_marked in (("off", True), ("auto", False), ("off", True), (None, False)):
                params = {"plugin": "browser", "tool": SCRIPT, "permission": level}
                await extension.ask("config.setToolPermission", params)
                for stream in streams:
                    method = (await next_message(stream))["method"]
                    assert method == "notifications/tools/list_changed"
                for agent in (session, Agent(http)):
                    description = (await listed(agent))[SCRIPT]
                    assert description.startswith("[Disabled] ") is is_marked
                tools = json.loads(home.config.read_text())["permissions"].get("tools", {})
                assert tools.get(SCRIPT) == level
    after = json.loads(home.config.read_text())
    assert after == before


@pytest.mark.parametrize(
    ("method", "params", "reason"),
    [
        ("config.setToolPermission", {"plugin": "browser", "tool": "x"}, "invalid_params"),
        (
            "config.setToolPermission",
            {"plugin": "browser", "tool": "x", "permission": "off"},
            "unknown_tool",
        ),
        (
            "config.setToolPermission",
            {"plugin": "slack", "tool": SCRIPT, "permission": "off"},
            "unknown_tool",
        ),
        (
            "config.setToolPermission",
            {"plugin": "browser", "tool": SCRIPT, "permission": "maybe"},
            "invalid_params",
        ),
        ("config.setPluginPermission", {"plugin": "slack", "permission": "auto"}, "not_found"),
        ("config.setPluginPermission", {"plugin": "", "permission": "auto"}, "not_found"),
    ],
)
async def test_a_level_for_an_unknown_tool_is_refused_and_not_saved(
    tmp_path: Path, method: str, params: Json, reason: str
) -> None:
    home = Home(tmp_path / "home").create()
    async with served(home=home) as server, connected(server.port) as extension:
        answer = await extension.ask(method, params)
    assert answer["error"]["data"]["reason"] == reason
    assert not home.config.exists()
