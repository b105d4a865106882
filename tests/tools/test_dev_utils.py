"""`dev_utils`: disabled by default, and limited to the state of its caller."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tabhub import __version__
from tabhub.config.settings import Settings
from tabhub.server.serving import Server
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

Json = dict[str, Any]
Developing = tuple[Server, FakeExtension, Agent]
ACTIONS = (
    *("ping", "status", "version", "dump_state"),
    *("reload_extension", "clear_state", "simulate_disconnect"),
)


@asynccontextmanager
async def developing(dev: bool = True) -> AsyncIterator[Developing]:
    async with (
        served(Settings(dev=dev)) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(tab(1, url="https://a.example/?token=hunter2"))
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        yield server, extension, Agent(http)


@pytest.mark.document("CB-tools-22")
@pytest.mark.parametrize("action", ACTIONS)
async def test_it_is_disabled_and_says_how_to_enable_it(action: str) -> None:
    async with developing(dev=False) as (_, _, agent):
        with pytest.raises(ToolFailed, match="--dev") as off:
            await agent.call("dev_utils", action=action)
        assert off.value.reason == "permission_off"


@pytest.mark.document("CB-tools-22")
async def test_it_reports_its_version_and_whether_a_browser_is_connected() -> None:
    async with developing() as (_, _, agent):
        assert (await agent.call("dev_utils", action="ping"))["pong"] is True
        assert (await agent.call("dev_utils", action="version"))["version"] == __version__
        data = await agent.call("dev_utils", action="status")
        assert data["browsers"] == [{"name": "Fake", "kind": "managed", "ready": True}]
        assert data["callsUnderWay"] == 1


async def test_the_reported_state_is_the_callers_and_has_no_secret() -> None:
    async with developing() as (server, _, agent):
        server.app.hub.sessions.open("another", "main", "other agent", 0.0)
        await agent.call("browser_execute_script", code="1", tabId=1)
        server.app.hub.ownership.take("token:main", 1)
        result = await agent.result("dev_utils", action="dump_state")
        data = result["structuredContent"]
        assert data["currentTab"] == 1
        assert data["tabs"] == [{"tabId": 1, "site": "a.example", "status": "complete"}]
        for word in ("hunter2", "other agent", "another"):
            assert word not in str(result)


async def test_clearing_drops_the_state_of_the_caller_and_nothing_of_the_person() -> None:
    async with developing() as (server, extension, agent):
        await agent.call("browser_execute_script", code="1", tabId=1)
        await agent.call("turn_answer_start")
        await agent.call("shortcuts_record", action="start", command="x")
        server.app.rules.set_level("tools", "browser_notify", "off")
        await agent.call("dev_utils", action="clear_state")
        data = await agent.call("dev_utils", action="dump_state")
        assert (data["currentTab"], data["recording"], data["answering"]) == (None, None, False)
        with pytest.raises(ToolFailed) as nowhere:
            await agent.call("browser_execute_script", code="1")
        assert nowhere.value.reason == "no_current_tab"
        assert server.app.rules.level_of("browser_notify") == "off"
        assert (await extension.state())["tabs"][0]["shared"] is True


async def test_the_extension_is_asked_to_restart() -> None:
    async with developing() as (_, extension, agent):
        assert await agent.call("dev_utils", action="reload_extension") == {"reloaded": 1}
        await extension.next("extension.reload")


async def test_cutting_the_connection_ends_it_for_the_extension() -> None:
    async with developing() as (_, extension, agent):
        assert await agent.call("dev_utils", action="simulate_disconnect", tabId=1)
        await extension.socket.wait_closed()
        assert extension.socket.close_code == 4002
        with pytest.raises(ToolFailed) as failed:
            await agent.call("dev_utils", action="simulate_disconnect")
        assert failed.value.reason == "extension_disconnected"


@pytest.mark.parametrize("arguments", [{}, {"action": "explode"}, {"action": "ping", "x": 1}])
async def test_unknown_input_is_refused(arguments: Json) -> None:
    async with developing() as (_, _, agent):
        with pytest.raises(ToolFailed) as wrong:
            await agent.call("dev_utils", **arguments)
        assert wrong.value.reason == "invalid_arguments"


@pytest.mark.parametrize("is_on", [True, False])
async def test_every_list_shows_whether_it_is_enabled(is_on: bool) -> None:
    async with served(Settings(dev=is_on)) as server, client(server.port) as http:
        health = (await http.get("/health")).json()
        assert health["disabledBrowserTools"] == ([] if is_on else ["dev_utils"])
        data = (await http.get("/tools/dev_utils")).json()
        assert (data.get("disabled", False), "[Disabled]" in data["description"]) == (
            not is_on,
            not is_on,
        )
        tools = (await Agent(http, "/mcp?toolsets=claude").post("tools/list")).json()["result"]
        (listed,) = (tool for tool in tools["tools"] if tool["name"] == "dev_utils")
        assert listed["description"].startswith("[Disabled]") is not is_on
