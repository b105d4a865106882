"""Page tools as an agent sees them: listed by their site, called by the page's own names."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.support.agent import Agent

SECONDS = 20.0


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


async def until(agent: Agent, wanted: Callable[[dict[str, dict[str, Any]]], Any]) -> Any:
    """What a look at the list finds; it is looked at until there is something."""
    async with asyncio.timeout(SECONDS):
        while not (found := wanted(await listed(agent))):
            await asyncio.sleep(0.05)
        return found


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
    """Nothing of these sites is left over from the test before."""
    starts = tuple(tool_name(origin, "") for origin in origins)
    await until(agent, lambda tools: not [name for name in tools if name.startswith(starts)])
    yield
