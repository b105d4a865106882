"""The size of the window that a tab is in."""

from tabhub.calls.results import done
from tabhub.errors import Forbidden
from tabhub.tools.own import movable_numbers
from tabhub.tools.tab_context import with_tabs
from tabhub.tools.tool import CLAUDE, BrowserTool, Context, Json
from tabhub.wire.mcp.messages import CallResult

LARGEST = 8192
_SIDE: Json = {"type": "integer", "minimum": 1, "maximum": LARGEST}


async def _resize(context: Context) -> CallResult:
    given, tab = context.job.arguments, context.tab
    wanted = {"width": given["width"], "height": given["height"]}
    window = await _update(context, wanted)
    got = {"width": window["width"], "height": window["height"]}
    view = window.get("viewport")
    shown: Json = {"tabId": tab.id, "requested": wanted, "window": got}
    page = f" The page in it is {_size(view)}." if view else ""
    note = "" if got == wanted else f" {_size(wanted)} was asked for; the system allows no other."
    more = {"viewport": view} if view else {}
    return done(f"The window is {_size(got)} now.{note}{page}", {**shown, **more})


async def _update(context: Context, wanted: Json) -> Json:
    tab = context.tab
    input = {"windowId": tab.window_id, "own": movable_numbers(context, tab.browser), **wanted}
    try:
        window: Json = await context.in_browser(tab.browser, "windows.update", input)
    except Forbidden as refused:
        raise Forbidden(
            f"{refused.message} browser_create_window opens a page in a window of your own.",
            refused.reason,
        ) from None
    return window


def _size(box: Json) -> str:
    return f"{box['width']}x{box['height']}"


RESIZE_WINDOW = BrowserTool(
    name="resize_window",
    title="Resize window",
    description=(
        "Resize the tab's window, if no tab in it is somebody else's. The size is that of the "
        "whole window; tells the size it got and that of the page."
    ),
    run=with_tabs(_resize),
    properties={"width": _SIDE, "height": _SIDE},
    required=("width", "height"),
    idempotent=True,
    toolsets=CLAUDE,
)

TOOLS = (RESIZE_WINDOW,)
