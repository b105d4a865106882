"""The size of the window that a tab is in."""

from tabhub.calls.results import done
from tabhub.errors import Forbidden
from tabhub.tools.caller_tabs import with_tabs
from tabhub.tools.own import movable_numbers
from tabhub.tools.tool import CLAUDE, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

LARGEST = 8192
_SIDE: Json = {"type": "integer", "minimum": 1, "maximum": LARGEST}


async def _resize(context: Context) -> CallResult:
    given, tab = context.arguments, context.tab
    wanted = {"width": given["width"], "height": given["height"]}
    window = await _update(context, wanted)
    got = {"width": window["width"], "height": window["height"]}
    shown: Json = {"tabId": tab.id, "requested": wanted, "window": got}
    note = "" if got == wanted else f" {_size(wanted)} was asked for; the system allows no other."
    view = window.get("page") or window.get("viewport")
    more = {"viewport": view} if view else {}
    page = f" Your page in it is {_size(view)}.{_behind(window)}" if view else ""
    return done(f"The window is {_size(got)} now.{note}{page}", {**shown, **more})


def _behind(window: Json) -> str:
    if window.get("page") == window.get("viewport"):
        return ""
    return (
        " It is behind another tab and takes the new size when it is shown (browser_focus_tab); "
        "browser_emulate_device gives a page a size at once."
    )


async def _update(context: Context, wanted: Json) -> Json:
    tab = context.tab
    own = movable_numbers(context, tab.browser)
    input = {"windowId": tab.window_id, "page": tab.native_id, "own": own, **wanted}
    try:
        window: Json = await context.in_browser(tab.browser, "windows.update", input)
    except Forbidden as refused:
        raise Forbidden(
            f"{refused.message} browser_create_window opens a page in a window of your own.",
            refused.reason,
            effect=refused.effect,
        ) from None
    return window


def _size(box: Json) -> str:
    return f"{box['width']}x{box['height']}"


RESIZE_WINDOW = browser_tool(
    name="resize_window",
    title="Resize window",
    description=(
        "Resize the tab's window, if no tab in it is somebody else's. The size is that of the "
        "whole window; tells the size it got and that of the page."
    ),
    handler=with_tabs(_resize),
    properties={"width": _SIDE, "height": _SIDE},
    required=("width", "height"),
    idempotent=True,
    same_as=("browser_update_window",),
    toolsets=CLAUDE,
)

TOOLS = (RESIZE_WINDOW,)
