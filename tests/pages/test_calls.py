"""Tools of pages, called by an agent through a double of the extension."""

from typing import Any

import pytest

from tests.support.agent import Agent
from tests.support.extension import connected, page_tool, tab
from tests.support.serving import client, served

SEARCH = "website_tool_shop_example_search"


async def _tools(agent: Agent) -> dict[str, dict[str, Any]]:
    listed = (await agent.post("tools/list")).json()["result"]["tools"]
    return {tool["name"]: tool for tool in listed if tool["name"].startswith("website_tool_")}


@pytest.mark.requirement("MB-03")
async def test_a_page_registers_its_tools_and_an_agent_calls_one() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        agent = Agent(http)
        await extension.sync(tab(1))
        hints = {"readOnlyHint": True}
        tool = page_tool("search", title="Search", annotations=hints)
        await extension.publish(1, tool, extensions={"token": "of the page"})
        told = (await _tools(agent))[SEARCH]
        assert (told["title"], told["annotations"]) == ("Search", hints)
        assert told["description"] == "[shop.example] Does search."
        assert told["inputSchema"]["properties"]["word"] == {"type": "string"}
        assert told["inputSchema"]["properties"]["tabId"]["type"] == "integer"
        extension.page_tools["search"] = lambda call: {
            "content": [{"type": "text", "text": str(call["args"])}]
        }
        assert await agent.text(SEARCH, word="tea", tabId=1) == "{'word': 'tea'}"
        sent = (await extension.next("browser/executeTool"))["params"]
    assert sent.pop("callId")
    assert sent == {
        "tabId": 1,
        "frameId": 0,
        "documentId": "doc-1",
        "toolName": "search",
        "args": {"word": "tea"},
        "kind": "native",
        "extensions": {"token": "of the page"},
    }
