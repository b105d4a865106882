"""The browser's windows. What has a tab that is not the caller's is not the caller's to change."""

from collections.abc import Mapping
from typing import Any

from tabhub.calls.results import done
from tabhub.tools.budget import MAX_TOKENS
from tabhub.tools.own import is_own, known, movable_numbers, own_numbers
from tabhub.tools.reports import listed
from tabhub.tools.tabs.tabs import opened
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, browser_tool
from tabhub.tools.urls import address
from tabhub.wire.mcp.messages import CallResult

BLANK = "about:blank"
_BOUNDS = ("left", "top", "width", "height")
_SETTABLE = (*_BOUNDS, "state", "incognito")


async def _list_windows(context: Context) -> CallResult:
    output = await context.in_browser(context.browser, "windows.list", {})
    windows = [_shown(context, window) for window in output["windows"]]
    counted = "1 window" if len(windows) == 1 else f"{len(windows)} windows"
    lines = [_line(window) for window in windows]
    return listed(context.arguments, counted, lines, lambda count: {"windows": windows[:count]})


async def _create_window(context: Context) -> CallResult:
    given = context.arguments
    wanted = {key: given[key] for key in _SETTABLE if key in given}
    input = {"url": address(given.get("url", BLANK)), "window": wanted}
    tab, output = await opened(context, context.session, context.browser, input)
    tab = context.as_told(tab)
    window = _shown(context, output["window"])
    page = {"tabId": tab.id, "url": tab.url, "title": tab.title, "status": tab.status}
    return done(f"Opened tab {tab.id} in a new window.\n{_line(window)}", {**window, **page})


async def _update_window(context: Context) -> CallResult:
    given = {key: value for key, value in context.arguments.items() if key != "connectionId"}
    input = {**given, "own": movable_numbers(context, context.browser)}
    window = _shown(context, await context.in_browser(context.browser, "windows.update", input))
    return done(_line(window), window)


async def _close_window(context: Context) -> CallResult:
    id = context.arguments["windowId"]
    input = {"windowId": id, "own": own_numbers(context)}
    await context.in_browser(context.browser, "windows.close", input)
    return done(f"Closed window {id} with its tabs.", {"closed": id})


def _shown(context: Context, window: Json) -> Json:
    tabs = known(context, window["tabIds"])
    yours = len(tabs) == len(window["tabIds"]) and all(is_own(context, tab) for tab in tabs)
    shown = {**window, "tabIds": [tab.id for tab in tabs], "usable": yours}
    return {**shown, "browser": context.browser}


def _line(window: Json) -> str:
    left, top, width, height = (window.get(key) for key in _BOUNDS)
    view = window.get("viewport")
    page = f", its page {view['width']}x{view['height']}" if view else ""
    marks = [word for word in ("focused", "incognito") if window.get(word)]
    marks.append("yours" if window["usable"] else "not yours")
    tabs = ", ".join(map(str, window["tabIds"])) or "none"
    return (
        f"Window {window['windowId']}: {window['state']}, {width}x{height} at {left},{top}{page}; "
        f"tabs {tabs} ({', '.join(marks)})"
    )


def _target(given: Mapping[str, Any]) -> str | None:
    return address(given.get("url", BLANK))


_INTEGER: Json = {"type": "integer"}
_SIZE: Json = {"type": "integer", "minimum": 1, "maximum": 8192}
_SETTINGS: Json = {
    "width": {**_SIZE, "description": "Of the whole window; the result tells the page's own."},
    "height": _SIZE,
    "left": _INTEGER,
    "top": _INTEGER,
    "state": {"enum": ["normal", "minimized", "maximized", "fullscreen"]},
}

LIST_WINDOWS = browser_tool(
    name="browser_list_windows",
    title="List windows",
    description="The browser's windows: place, size, state and tabs, and which are yours.",
    handler=_list_windows,
    properties={"connectionId": CONNECTION, "maxTokens": MAX_TOKENS},
    read_only=True,
    needs_tab=False,
    toolsets=BROWSER,
)

CREATE_WINDOW = browser_tool(
    name="browser_create_window",
    title="Create window",
    description=(
        "Open a page in a new window, without taking the focus, and wait until it has loaded. Its "
        "tab is yours and becomes this session's current tab."
    ),
    handler=_create_window,
    properties={
        "url": {"type": "string", "description": "Default a blank page."},
        **_SETTINGS,
        "incognito": {"type": "boolean"},
        "connectionId": CONNECTION,
    },
    needs_tab=False,
    opens_tab=True,
    address_of=_target,
    toolsets=BROWSER,
)

UPDATE_WINDOW = browser_tool(
    name="browser_update_window",
    title="Update window",
    description="Move, resize, minimize, maximize or focus a window whose tabs are all yours.",
    handler=_update_window,
    properties={
        "windowId": _INTEGER,
        **_SETTINGS,
        "focused": {"type": "boolean"},
        "connectionId": CONNECTION,
    },
    required=("windowId",),
    idempotent=True,
    needs_tab=False,
    toolsets=BROWSER,
)

CLOSE_WINDOW = browser_tool(
    name="browser_close_window",
    title="Close window",
    description="Close a window whose tabs are all yours, and them with it.",
    handler=_close_window,
    properties={"windowId": _INTEGER, "connectionId": CONNECTION},
    required=("windowId",),
    needs_tab=False,
    toolsets=BROWSER,
)

TOOLS = (LIST_WINDOWS, CREATE_WINDOW, UPDATE_WINDOW, CLOSE_WINDOW)
