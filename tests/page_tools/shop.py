"""A shop whose page has a tool, and helpers to use it."""

from typing import Any

from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, tab

SEARCH = "website_tool_shop_example_search"


async def tools_of(agent: Agent) -> dict[str, dict[str, Any]]:
    listed = (await agent.post("tools/list")).json()["result"]["tools"]
    return {tool["name"]: tool for tool in listed if tool["name"].startswith("website_tool_")}


def answering(word: Any) -> Any:
    return lambda call: {"content": [{"type": "text", "text": f"{word}"}]}


async def answer_open(extension: FakeExtension, number: int, *tools: dict[str, Any]) -> str:
    """Answer the server's request for a tab, whose page then publishes; return the tab's URL."""
    request = await extension.next("tool.dispatch")
    assert request["params"]["tool"] == "tabs.open"
    url: str = request["params"]["input"]["url"]
    await extension.send({"id": request["id"], "result": {"output": tab(number, url=url)}})
    await extension.publish(number, *tools)
    return url
