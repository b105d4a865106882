"""The product's own content over MCP: tools, tabs as resources, and the prompt."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tabhub.hub.tools import Tool
from tests.agents.mcp.clients import LoneClient, connect, events, next_message
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

EXTRA = Tool(
    "extra",
    "one more",
    {"type": "object"},
    source="browser",
    needs_tab=False,
    toolsets=frozenset({"core"}),
)
LISTEN = {
    "notifications": {
        "toolsListChanged": True,
        "resourcesListChanged": True,
        "resourceSubscriptions": ["tab://1"],
    }
}


async def _result(agent: Agent, method: str, params: dict[str, Any] | None = None) -> Any:
    return (await agent.post(method, params)).json()["result"]


@pytest.mark.requirement("OT-03")
async def test_an_added_or_removed_tool_is_announced_in_both_eras_and_the_list_follows() -> None:
    async with served() as server, client(server.port) as http:
        session = await connect(http)
        async with (
            session.listening() as old,
            LoneClient(http).streaming("subscriptions/listen", LISTEN) as new,
        ):
            older, newer, tools = events(old), events(new), server.app.hub.tools
            await next_message(newer)
            names = [tool["name"] for tool in (await _result(Agent(http), "tools/list"))["tools"]]
            changes: list[Callable[[], None]] = [
                lambda: tools.add(EXTRA),
                lambda: tools.remove(EXTRA.name),
            ]
            for change in changes:
                change()
                for stream in (older, newer):
                    message = await next_message(stream)
                    assert message["method"] == "notifications/tools/list_changed"
            server.app.hub.tools.add(EXTRA)
            after = [tool["name"] for tool in (await _result(Agent(http), "tools/list"))["tools"]]
    assert after == [*names, "extra"]


async def test_open_tabs_are_resources_that_can_be_listed_read_completed_and_followed() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        open_tabs = [tab(1), tab(12), tab(3)]
        extension.handlers["tabs.list"] = lambda params: {"tabs": open_tabs}
        await extension.sync(*open_tabs)
        agent = Agent(http)
        listed = (await _result(agent, "resources/list"))["resources"]
        assert [entry["uri"] for entry in listed] == ["tab://1", "tab://12", "tab://3"]
        read = (await _result(agent, "resources/read", {"uri": "tab://12"}))["contents"][0]
        assert '"title":"Tab 12"' in read["text"]
        reference = {
            "ref": {"type": "ref/resource", "uri": "tab://{id}"},
            "argument": {"name": "id", "value": "1"},
        }
        completed = (await _result(agent, "completion/complete", reference))["completion"]
        assert completed["values"] == ["1", "12"]
        async with LoneClient(http).streaming("subscriptions/listen", LISTEN) as response:
            stream = events(response)
            await next_message(stream)
            moved = {**tab(1), "title": "New title"}
            await extension.ask("tab.stateChanged", {"tabId": 1, "state": "updated", "tab": moved})
            await extension.ask("tab.stateChanged", {"tabId": 3, "state": "closed"})
            received = [await next_message(stream) for _ in range(2)]
    assert [message["method"] for message in received] == [
        "notifications/resources/updated",
        "notifications/resources/list_changed",
    ]
    assert received[0]["params"]["uri"] == "tab://1"


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize(
    "uri", ["tab://7", "tab://x", "tab://" + "9" * 5000, "file:///etc/passwd", ""]
)
async def test_an_unknown_resource_is_an_error_with_a_reason(uri: str) -> None:
    async with served() as server, client(server.port) as http:
        session = await connect(http)
        answer = (await session.request("resources/read", {"uri": uri})).json()
    assert answer["error"]["data"]["reason"] == "unknown_resource"


@pytest.mark.document("CB-handler-8")
@pytest.mark.requirement("TH-41")
async def test_an_unknown_tool_is_a_protocol_error_and_wrong_arguments_are_a_result() -> None:
    async with served() as server, client(server.port) as http:
        agent = Agent(http)
        unknown = (await agent.post("tools/call", {"name": "nothing", "arguments": {}})).json()
        wrong = await agent.result("browser_open_tab", url=7)
    assert (unknown["error"]["code"], unknown["error"]["data"]["reason"]) == (
        -32602,
        "unknown_tool",
    )
    assert wrong["isError"] is True
    error = wrong["structuredContent"]["error"]
    assert (error["reason"], error["category"], error["retryable"]) == (
        "invalid_arguments",
        "validation",
        False,
    )


async def test_an_operation_id_in_the_request_runs_the_call_once() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        runs = count(1)
        extension.handlers["page.evaluate"] = lambda params: {"value": next(runs)}
        agent = Agent(http)
        for _ in range(2):
            result = await agent.result(
                "browser_execute_script", {"tabhub/operationId": "once"}, code="1", tabId=1
            )
            assert result["structuredContent"] == {"value": 1}
    assert next(runs) == 2


async def test_the_prompt_carries_the_task_and_an_unknown_one_is_refused() -> None:
    async with served() as server, client(server.port) as http:
        agent = Agent(http)
        params = {"name": "use_browser", "arguments": {"task": "buy milk"}}
        prompt = await _result(agent, "prompts/get", params)
        unknown = (await agent.post("prompts/get", {"name": "other"})).json()
        empty = (await agent.post("prompts/get", {"name": "use_browser"})).json()
    assert "buy milk" in prompt["messages"][0]["content"]["text"]
    assert unknown["error"]["data"]["reason"] == "unknown_prompt"
    assert empty["error"]["code"] == -32602


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize("method", ["tools/list", "resources/list", "prompts/list"])
async def test_an_unknown_cursor_is_refused(method: str) -> None:
    async with served() as server, client(server.port) as http:
        answer = (await Agent(http).post(method, {"cursor": "made up"})).json()
    assert answer["error"]["code"] == -32602


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize("id", ["", 7, "x" * 300, {}])
async def test_an_operation_id_must_be_a_short_string(id: Any) -> None:
    async with served() as server, client(server.port) as http:
        params = {"name": "browser_list_tabs", "_meta": {"tabhub/operationId": id}}
        answer = (await Agent(http).post("tools/call", params)).json()
    assert answer["error"]["data"]["reason"] == "invalid_params"


async def test_the_list_of_tools_is_short_enough_for_an_agent() -> None:
    async with served() as server, client(server.port) as http:
        body = (await Agent(http).post("tools/list")).content
    assert len(body) <= 8_192


@pytest.mark.requirement("OT-02")
async def test_each_session_has_its_own_current_tab_and_it_is_forgotten_with_the_session() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), tab(2))
        extension.handlers["page.evaluate"] = lambda params: {"value": params["tabId"]}
        first, second = await connect(http), await connect(http)
        for session, id in ((first, 1), (second, 2)):
            await session.call("browser_execute_script", code="1", tabId=id)
        answers = [
            (await session.call("browser_execute_script", code="1")).json()["result"]
            for session in (first, second)
        ]
        assert [answer["structuredContent"]["value"] for answer in answers] == [1, 2]
        assert server.app.hub.sessions.current(first.session) == 1
        await first.end()
        assert server.app.hub.sessions.current(first.session) is None
        assert server.app.hub.sessions.current(second.session) == 2
