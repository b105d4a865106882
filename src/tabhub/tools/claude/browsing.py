"""Opening and closing tabs of the caller's own group."""

from collections.abc import Mapping
from typing import Any

from tabhub.calls.results import done
from tabhub.tools.caller_tabs import group_tabs, with_tabs
from tabhub.tools.groups import BLANK
from tabhub.tools.tabs.tabs import close, held_up, location, open_tab, page, pending
from tabhub.tools.tool import CLAUDE, Context, Json, browser_tool
from tabhub.tools.urls import address
from tabhub.wire.mcp.messages import CallResult

URL: Json = {"type": "string", "description": "Default a blank page."}


def target(given: Mapping[str, Any]) -> str:
    """Where a new tab goes."""
    return address(given.get("url", BLANK))


async def _create(context: Context) -> CallResult:
    url = target(context.arguments)
    tab, held = await open_tab(context, context.session, context.browser, url, active=False)
    tab = context.as_told(tab)
    told = f"Tab ID: {tab.id}. It is at {page(tab)}.{pending(tab, held)}"
    return done("\n".join([told, *held_up(held)]), {**location(tab), **held})


async def _close(context: Context) -> CallResult:
    await close(context)
    closed = context.tab.id
    left = sum(tab.id != closed for tab in group_tabs(context, context.session))
    told = f"{left} left in your group." if left else "Your group is empty and gone."
    return done(f"Closed tab {closed}. {told}", {"closed": closed, "left": left})


TABS_CREATE_MCP = browser_tool(
    name="tabs_create_mcp",
    title="New tab in my group",
    description="Open a background tab in your own tab group, which is made if there is none.",
    handler=with_tabs(_create),
    properties={"url": URL},
    needs_tab=False,
    opens_tab=True,
    address_of=target,
    same_as=("browser_open_tab",),
    toolsets=CLAUDE,
)

TABS_CLOSE_MCP = browser_tool(
    name="tabs_close_mcp",
    title="Close tab of my group",
    description="Close a tab of your own tab group; tells how many are left.",
    handler=_close,
    required=("tabId",),
    same_as=("browser_close_tab",),
    toolsets=CLAUDE,
)

TOOLS = (TABS_CREATE_MCP, TABS_CLOSE_MCP)
