"""Requests that a page makes while an agent intercepts them."""

from typing import Any

from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.eventually import eventually

Json = dict[str, Any]
START, LIST, STOP = (
    "browser_intercept_requests",
    "browser_list_intercepted",
    "browser_stop_intercepting",
)
FULFILL, FAIL, GO_ON = (
    "browser_fulfill_request",
    "browser_fail_request",
    "browser_continue_request",
)
ASK = """(window.answer = undefined, fetch('%s', %s).then(
  async (found) => {
    window.answer = [found.status, found.headers.get('x-mark'), await found.text()];
  },
  (error) => (window.answer = error.name)), 1)"""


async def ask(cdp: Cdp, page: str, address: str, options: str = "{}") -> None:
    """Let the page start a fetch without waiting for it."""
    await cdp.evaluate(page, ASK % (address, options))


async def answer(cdp: Cdp, page: str) -> Any:
    return await eventually(
        lambda: cdp.evaluate(page, "window.answer"), until=lambda found: found is not None
    )


async def paused(agent: Agent, **more: Any) -> Json:
    (request,) = (await agent.call(LIST, timeout=10_000, **more))["waiting"]
    found: Json = request
    return found
