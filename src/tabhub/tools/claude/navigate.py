"""Going to an address, in the current tab or in the first one of a new group."""

from tabhub.calls.results import done
from tabhub.errors import NotFound
from tabhub.hub.tabs import Tab
from tabhub.tools.caller_tabs import with_tabs
from tabhub.tools.tabs.tabs import held_up, location, navigate, open_tab, page, pending, target
from tabhub.tools.tool import CLAUDE, Context, Json, browser_tool
from tabhub.tools.urls import HISTORY, address
from tabhub.wire.mcp.messages import CallResult


async def _navigate(context: Context) -> CallResult:
    wanted = context.arguments["url"]
    tab, held = await (_open if context.call.tab is None else navigate)(context)
    tab = context.as_told(tab)
    asked = None if wanted in HISTORY else address(wanted)
    is_redirected = asked is not None and not held and not _is_same(asked, tab.url)
    note = f" It was redirected there from {asked}." if is_redirected else ""
    more = {"requestedUrl": asked} if is_redirected else {}
    told = [f"Tab {tab.id} is at {page(tab)}.{note}{pending(tab, held)}", *held_up(held)]
    return done("\n".join(told), {**location(tab), **more, **held})


async def _open(context: Context) -> tuple[Tab, Json]:
    wanted = context.arguments["url"]
    if wanted in HISTORY:
        raise NotFound(f"You have no tab yet that could go {wanted}.", "no_current_tab")
    session, browser = context.session, context.browser
    return await open_tab(context, session, browser, address(wanted), active=False)


def _is_same(asked: str, found: str) -> bool:
    """Whether the browser went where it was sent; it completes and tidies up addresses."""
    return _tidy(asked) == _tidy(found)


def _tidy(url: str) -> str:
    return url.partition("#")[0].rstrip("/").lower()


NAVIGATE = browser_tool(
    name="navigate",
    title="Navigate",
    description=(
        "Go to an address, or back, forward or reload, and wait until the page has loaded. Tells "
        "the final address. Without a tab yet, opens one."
    ),
    handler=with_tabs(_navigate),
    properties={"url": {"type": "string", "minLength": 1}},
    required=("url",),
    opens_tab=True,
    address_of=target,
    same_as=("browser_navigate_tab",),
    opens_as=("browser_open_tab",),
    toolsets=CLAUDE,
)

TOOLS = (NAVIGATE,)
