"""Reading the recorded requests and console messages of a page."""

from typing import Any
from urllib.parse import quote

from tests.support.agent import Agent

Json = dict[str, Any]


def page(origin: str, body: str) -> str:
    return f"{origin}/html?body={quote('<title>recorded</title>' + body)}"


async def requests(agent: Agent, **more: Any) -> list[Json]:
    found: list[Json] = (await agent.call("browser_get_network_requests", **more))["requests"]
    return found


async def entries(agent: Agent, **more: Any) -> list[Json]:
    found: list[Json] = (await agent.call("browser_get_console_logs", **more))["entries"]
    return found


async def texts(agent: Agent, **more: Any) -> list[str]:
    return [entry["text"] for entry in await entries(agent, **more)]
