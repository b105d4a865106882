"""A run through all state that the extension's worker keeps for tabs, step by step."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from tests.real.looking import html
from tests.real.network.intercepting import START as INTERCEPT
from tests.real.network.intercepting import STOP, ask, paused
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.page_tools import tool
from tests.support.site import Site

CLICK, ANSWER = "browser_click_element", "browser_handle_dialog"
CALM = [{"name": "prefers-reduced-motion", "value": "reduce"}]
TOOL_AND_FRAME = """<title>Outer</title><script src='/tools.js'></script>
<button id=asks onclick="confirm('Really?')">Asks</button>
<button id=opens onclick="window.open('/form.html')">Opens</button>
<iframe src='{inner}' width=400 height=300></iframe>"""
INNER = "<input type=file id=inner>"


async def state(cdp: Cdp) -> Any:
    return await cdp.in_worker("describeTabState()")


async def rested_state(cdp: Cdp) -> Any:
    """The state of the worker once it no longer changes."""
    latest = [await state(cdp)]
    while len(latest) < 4 or any(state != latest[0] for state in latest):
        await asyncio.sleep(0.1)
        latest = [*latest[-3:], await state(cdp)]
    return latest[0]


async def steps(agent: Agent, cdp: Cdp, site: Site) -> AsyncIterator[str]:
    """Yields the name of each finished step; the caller may kill the worker in between."""
    inner = f"{site.other}/html?body={INNER.replace(' ', '%20')}"
    url = html(site, TOOL_AND_FRAME.format(inner=inner))
    tab: int = (await agent.call("browser_open_tab", url=url))["tabId"]
    page = await cdp.page(url)
    here = {"tabId": tab}
    upload: int = (await agent.call("browser_open_tab", url=site.page("upload")))["tabId"]
    target = {"tabId": upload}
    popups: list[int] = []

    def call(name: str, **arguments: object) -> Callable[[], Awaitable[object]]:
        return lambda: agent.call(name, **arguments)

    async def hold_a_request() -> None:
        await ask(cdp, page, "/html?body=held")
        await paused(agent, **here)

    async def open_popup() -> None:
        clicked = await agent.call(CLICK, selector="#opens", **here)
        popups.append(clicked["effect"]["opened"])

    async def close_popup() -> None:
        await agent.call("browser_close_tab", tabId=popups.pop())

    await tool(agent, site.url, "never")
    yield "two tabs open"
    for name, step in (
        ("read", call("browser_read_page", **here)),
        ("media emulated", call("browser_set_media_features", features=CALM, **here)),
        ("slow line", call("browser_throttle_network", preset="slow-3g", **target)),
        (
            "recorded anew",
            call("browser_enable_network_capture", maxRequests=7, urlFilter="held", **here),
        ),
        ("not recorded", call("browser_disable_network_capture", **target)),
        (
            "permission",
            call("browser_set_permission", permission="camera", setting="allow", **here),
        ),
        ("chooser", call(CLICK, selector="#makes", **target)),
        ("chooser in a frame", call(CLICK, selector="#inner", **here)),
        ("chooser dismissed", call(ANSWER, action="dismiss", **here)),
        # A held request continues after half a minute.
        ("intercepting", call(INTERCEPT, urlPatterns=["*held*"], **here)),
        ("request held", hold_a_request),
        ("dialog", call(CLICK, selector="#asks", **here)),
        ("dialog answered", call(ANSWER, action="accept", **here)),
        ("intercepting no more", call(STOP, **here)),
        ("popup", open_popup),
        ("chooser left with its page", call("browser_navigate_tab", url="reload", **target)),
        ("emulation cleared", call("browser_clear_emulation", **target)),
        ("elsewhere", call("browser_navigate_tab", url=site.page("form"), **here)),
        ("popup closed", close_popup),
        ("one tab closed", call("browser_close_tab", **target)),
        ("both tabs closed", call("browser_close_tab", **here)),
    ):
        await step()
        yield name
