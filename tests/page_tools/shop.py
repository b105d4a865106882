"""A shop whose page has a tool, and how the tests use it."""

from typing import Any

from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, tab

SEARCH = "website_tool_shop_example_search"


async def tools_of(agent: Agent) -> dict[str, dict[str, Any]]:
    listed = (await agent.post("tools/list")).json()["result"]["tools"]
    return {tool["name"]: tool for tool in listed if tool["name"].startswith("website_tool_")}


def says(word: Any) -> Any:
    return lambda call: {"content": [{"type": "text", "text": f"{word}"}]}


async def answer_open(extension: FakeExtension, number: int, *tools: dict[str, Any]) -> str:
    """Answer the server's wish for a tab, whose page then publishes; the address it wanted."""
    asked = await extension.next("tool.dispatch")
    assert asked["params"]["tool"] == "tabs.open"
    url: str = asked["params"]["input"]["url"]
    await extension.send({"id": asked["id"], "result": {"output": tab(number, url=url)}})
    await extension.publish(number, *tools)
    return url
