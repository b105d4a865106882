"""HTTP+SSE as the document shows it: the sequence of a client, and what the server answers."""

import httpx
import pytest

from tabhub import __version__
from tabhub.hub.tools import Tool
from tabhub.tools.tool import Context, browser_tool
from tabhub.wire.mcp.messages import CallResult
from tests.agents.mcp.sse_clients import streaming, written
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

HELLO = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
NAVIGATE = {"name": "navigate", "arguments": {"url": "https://example.com"}}


@pytest.mark.document("CB-flow-2", "CB-flow-3", "CB-server-2", "CB-calls-1", "CB-calls-2")
async def test_a_client_connects_introduces_itself_and_navigates() -> None:
    async with (
        served() as server,
        connected(server.port) as extension,
        client(server.port) as http,
        streaming(http) as agent,
    ):
        await extension.sync(tab(1), shared=False)
        extension.handlers["tabs.open"] = lambda _: tab(7, url="https://example.com/")
        hello = await agent.request("initialize", HELLO, id=0)
        assert (hello["jsonrpc"], hello["id"]) == ("2.0", 0)
        assert hello["result"]["serverInfo"]["version"] == __version__
        posted = await agent.send(written("tools/call", NAVIGATE, 1))
        assert (posted.status_code, posted.json()) == (202, {"status": "accepted"})
        answer = await agent.answer(1)
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 1)
    assert {block["type"] for block in answer["result"]["content"]} == {"text"}
    assert "https://example.com/" in answer["result"]["content"][0]["text"]
    assert not answer["result"].get("isError")


@pytest.mark.document("CB-tooldefs-2", "CB-tooldefs-3")
async def test_every_definition_has_a_name_a_description_and_a_schema_of_an_object() -> None:
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        tools = (await agent.request("tools/list"))["result"]["tools"]
    for tool in tools:
        assert tool["name"] and tool["description"], tool
        assert tool["inputSchema"]["type"] == "object", tool
    (navigate,) = (tool for tool in tools if tool["name"] == "navigate")
    assert navigate["inputSchema"]["required"] == ["url"]
    assert navigate["inputSchema"]["properties"]["url"]["type"] == "string"


@pytest.mark.document("CB-handler-4")
async def test_a_call_may_leave_out_its_arguments() -> None:
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        answer = await agent.request("tools/call", {"name": "turn_answer_start"})
    assert answer["result"]["structuredContent"] == {"started": True}


async def _fail(context: Context) -> CallResult:
    raise ZeroDivisionError("a detail of the program")


def _failing() -> Tool:
    return browser_tool(
        name="fails",
        description="Fails.",
        read_only=True,
        needs_tab=False,
        handler=_fail,
    )


@pytest.mark.document("CB-handler-6", "CB-handler-7")
async def test_a_failure_is_a_result_with_its_message() -> None:
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        server.app.hub.tools.add(_failing())
        refused = (await agent.call("navigate", url="https://example.com"))["result"]
        broken = (await agent.call("fails"))["result"]
    assert refused["isError"] is True
    assert [block["type"] for block in refused["content"]] == ["text"]
    assert "browser" in refused["content"][0]["text"]
    assert broken["isError"] is True
    assert "went wrong" in broken["content"][0]["text"]
    assert "detail" not in str(broken)


@pytest.mark.document("CB-errors-1", "CB-errors-6")
async def test_the_error_of_an_invalid_request_has_its_code_and_a_message() -> None:
    async with served() as server, client(server.port) as http, streaming(http) as agent:
        for answer, code in (
            (await http.post("/message", json={}), -32600),
            (await agent.send(b'{"id": 1, "method": "ping"}'), -32600),
            (await agent.send(b"{"), -32700),
        ):
            assert (answer.status_code, answer.headers["content-type"]) == (400, "application/json")
            _is_error(answer, code)


def _is_error(answer: httpx.Response, code: int) -> None:
    error = answer.json()["error"]
    assert error["code"] == code
    assert isinstance(error["message"], str) and error["message"]
