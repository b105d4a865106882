"""Page tools as an agent sees them: listed by site, called by the page's own names."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.agent import Agent, ToolFailed
from tests.support.eventually import eventually

TabId = int | str


def tool_name(origin: str, tool: str) -> str:
    domain = re.sub(r"\W", "_", urlsplit(origin).netloc)
    return f"website_tool_{domain}_{tool}"


async def listed(agent: Agent) -> dict[str, dict[str, Any]]:
    """Every tool, by its name."""
    found: dict[str, dict[str, Any]] = {}
    cursor: dict[str, Any] = {}
    while True:
        result = (await agent.post("tools/list", cursor)).json()["result"]
        found |= {tool["name"]: tool for tool in result["tools"]}
        if "nextCursor" not in result:
            return found
        cursor = {"cursor": result["nextCursor"]}


async def until(agent: Agent, condition: Callable[[dict[str, dict[str, Any]]], Any]) -> Any:
    """List the tools until `condition` returns a true value; return it."""

    async def look() -> Any:
        return condition(await listed(agent))

    return await eventually(look)


async def tool(agent: Agent, origin: str, name: str) -> dict[str, Any]:
    """A tool of a site, as soon as it is listed."""
    full = tool_name(origin, name)
    found: dict[str, Any] = await until(agent, lambda tools: tools.get(full))
    return found


async def withdrawn(agent: Agent, origin: str, name: str) -> None:
    full = tool_name(origin, name)
    await until(agent, lambda tools: full not in tools)


@asynccontextmanager
async def clean(agent: Agent, *origins: str) -> AsyncIterator[None]:
    """Wait until no tool of these sites remains from another test."""
    starts = tuple(tool_name(origin, "") for origin in origins)
    await until(agent, lambda tools: not [name for name in tools if name.startswith(starts)])
    yield


class PageTools:
    """The tools of one site, by their plain names, and the tabs that have them."""

    agent: Agent
    site: str

    async def tool(self, name: str) -> dict[str, Any]:
        """The tool in the agent's list, as soon as it is listed."""
        return await tool(self.agent, self.site, name)

    async def without(self, name: str) -> None:
        """Wait until no tool of this name is listed."""
        await withdrawn(self.agent, self.site, name)

    async def used(self, name: str, **arguments: Any) -> TabId:
        """Call a tool; return the tab that it ran in."""
        result = await self.agent.result((await self.tool(name))["name"], **arguments)
        if result.get("isError"):
            error = result["structuredContent"]["error"]
            raise ToolFailed(result["content"][0]["text"], error)
        tab: TabId = result["_meta"]["tabhub/tabId"]
        return tab

    async def tabs(self) -> list[dict[str, Any]]:
        result = await self.agent.result("list_browser_tabs")
        found: list[dict[str, Any]] = result["structuredContent"]
        return found

    async def active_tabs(self) -> list[TabId]:
        return [tab["tabId"] for tab in await self.tabs() if tab["isActive"]]

    async def looked_at(self, tab: TabId | None) -> None:
        """Wait until this tab, and no other, is active."""
        expected = [] if tab is None else [tab]
        await eventually(self.active_tabs, until=lambda active: active == expected)

    async def have(self, name: str, *expected: TabId) -> None:
        """Wait until exactly these tabs have a tool."""
        await eventually(
            lambda: self.holders(name), until=lambda found: set(found) == set(expected)
        )

    async def holders(self, name: str) -> list[TabId]:
        """The tabs that have a tool: the error about an unknown tab names them."""
        with pytest.raises(ToolFailed) as failed:
            await self.used(name, tabId="nowhere")
        found: list[TabId] = failed.value.error["tabs"]
        return found
