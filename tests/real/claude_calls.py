"""Helpers for tests of the claude vocabulary: calling its tools, inspecting pages without them."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp

Json = dict[str, Any]
Seen = Callable[[str], Awaitable[Any]]


async def computer(agent: Agent, action: str, **more: Any) -> Json:
    """The structured content of an action that must succeed."""
    return await agent.call("computer", action=action, **more)


def seen_by(cdp: Cdp, url: str) -> Seen:
    """A function that evaluates an expression in a page over CDP, without tabhub."""

    async def seen(code: str) -> Any:
        return await cdp.evaluate(await cdp.page(url), code)

    return seen


def texts(result: Json) -> list[str]:
    return [block["text"] for block in result["content"] if block["type"] == "text"]


def pictures(result: Json) -> list[Json]:
    return [block for block in result["content"] if block["type"] == "image"]
