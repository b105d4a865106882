"""The messages of the WebSocket between server and extension, as the document has them."""

import asyncio

import pytest

from tabhub.config.settings import PermissionSettings, Settings
from tests.support.agent import Agent
from tests.support.approvals import question
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

SCRIPT = "browser_execute_script"


@pytest.mark.document("OT-tosend-1")
async def test_the_first_message_says_what_the_server_is() -> None:
    async with served() as server, connected(server.port) as extension:
        assert extension.greeting["server"]["name"] == "tabhub"
        assert extension.greeting["plugins"] == []


@pytest.mark.document("OT-tosend-6", "OT-dispatch-2", "OT-dispatch-5")
async def test_a_call_is_dispatched_as_a_request_and_its_response_is_the_result() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        calling = asyncio.create_task(Agent(http).call(SCRIPT, code="1+1", tabId=1))
        request = await extension.command("page.evaluate")
        assert request["id"] and request["params"]["tabId"] == 1
        assert request["params"]["plugin"] == "browser"
        await extension.send({"id": request["id"], "result": {"output": {"value": 2}}})
        assert await calling == {"value": 2}


@pytest.mark.document("OT-tosend-9", "OT-received-18")
async def test_a_ping_is_answered_by_a_pong() -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.notify("ping", {})
        assert (await extension.next("pong")).keys() == {"jsonrpc", "method", "params"}


@pytest.mark.document("OT-received-1", "OT-received-2")
async def test_the_server_knows_the_tabs_that_were_reported() -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1), tab(2))
        assert [entry["tabId"] for entry in (await extension.state())["tabs"]] == [1, 2]
        closed = await extension.ask("tab.stateChanged", {"tabId": 1, "state": "closed"})
        assert closed["result"] == {}
        assert [entry["tabId"] for entry in (await extension.state())["tabs"]] == [2]


@pytest.mark.document("OT-received-6")
async def test_the_panel_gets_the_state_on_request() -> None:
    levels = PermissionSettings(tools={SCRIPT: "ask"})
    async with served(Settings(permissions=levels)) as server, connected(server.port) as extension:
        state = await extension.state()
    (shown,) = (tool for tool in state["tools"] if tool["name"] == SCRIPT)
    assert (shown["permission"], shown["plugin"]) == ("ask", "browser")
    assert state["skipPermissions"] is False


@pytest.mark.document("OT-received-17")
@pytest.mark.parametrize("decision", ["allow", "deny"])
async def test_the_persons_decision_may_come_as_a_notification(decision: str) -> None:
    levels = PermissionSettings(tools={SCRIPT: "ask"})
    async with (
        served(Settings(permissions=levels)) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        await extension.sync(tab(1), panels=1)
        calling = asyncio.create_task(Agent(http).result(SCRIPT, code="1", tabId=1))
        id = (await question(extension))["id"]
        await extension.notify("confirmation.response", {"id": id, "decision": decision})
        assert ("isError" in await calling) is (decision == "deny")
