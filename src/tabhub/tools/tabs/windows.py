"""Windows of the browser, and tabs and windows that were closed and can be restored.

A window belongs to an agent only if all of its tabs do.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from tabhub.browser.link.browsers import CLOSE
from tabhub.calls.results import done
from tabhub.errors import Forbidden, NotFound
from tabhub.hub.tabs import Tab
from tabhub.tools.reports import MAX_TOKENS, counted, counted_lines, fitting, listed, timestamp
from tabhub.tools.tabs.tabs import (
    location,
    movable_native_ids,
    new_tab,
    own_native_ids,
    with_own_tabs,
)
from tabhub.tools.tool import BLANK, BROWSER, CONNECTION, Context, Json, address, browser_tool
from tabhub.wire.abilities import Ability
from tabhub.wire.link import TabState
from tabhub.wire.mcp.messages import CallResult

MAX_CLOSED = 25
"""As many as the browser itself remembers."""
_BOUNDS = ("left", "top", "width", "height")
_SETTABLE = (*_BOUNDS, "state", "incognito")


async def _list_windows(context: Context) -> CallResult:
    output = await context.in_browser(context.browser, "windows.list", {})
    windows = [_window_data(context, window) for window in output["windows"]]
    head, lines = counted(len(windows), "window"), [_window_line(window) for window in windows]
    return listed(context.arguments, head, lines, lambda count: {"windows": windows[:count]})


async def _create_window(context: Context) -> CallResult:
    arguments = context.arguments
    settings = {key: arguments[key] for key in _SETTABLE if key in arguments}
    input = {"url": _target_url(arguments), "window": settings}
    tab, output = await new_tab(context, context.session, context.browser, input)
    window = _window_data(context, output["window"])
    sentence = f"Opened tab {tab.id} in a new window.\n{_window_line(window)}"
    return done(sentence, {**window, **location(tab)})


async def _update_window(context: Context) -> CallResult:
    changes = {key: value for key, value in context.arguments.items() if key != "connectionId"}
    input = {**changes, "own": movable_native_ids(context, context.browser)}
    output = await context.in_browser(context.browser, "windows.update", input)
    window = _window_data(context, output)
    return done(_window_line(window), window)


async def _close_window(context: Context) -> CallResult:
    id = context.arguments["windowId"]
    input = {"windowId": id, "own": own_native_ids(context)}
    await context.in_browser(context.browser, "windows.close", input)
    return done(f"Closed window {id} with its tabs.", {"closed": id})


def _window_data(context: Context, window: Json) -> Json:
    return {**with_own_tabs(context, window), "browser": context.browser}


def _window_line(window: Json) -> str:
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


def _target_url(arguments: Mapping[str, Any]) -> str:
    return address(arguments.get("url", BLANK))


async def _get_recently_closed(context: Context) -> CallResult:
    arguments = context.arguments
    closed = await _recently_closed(context, arguments.get("maxResults", MAX_CLOSED))
    visible = [_closed_data(context, entry) for entry in closed if _may_show(context, entry)]
    lines = fitting(map(_closed_line, visible), arguments)
    data: Json = {"sessions": visible[: len(lines)], "total": len(visible)}
    return done(counted_lines("closed entry", lines, len(visible)), data)


async def _recently_closed(context: Context, limit: int) -> list[Json]:
    output = await context.in_browser(context.browser, "sessions.recent", {"maxResults": limit})
    closed: list[Json] = output["sessions"]
    return closed


async def _restore_session(context: Context) -> CallResult:
    id = context.arguments["sessionId"]
    closed = await _recently_closed(context, MAX_CLOSED)
    entry = next((entry for entry in closed if entry["sessionId"] == id), None)
    if entry is None:
        raise NotFound(f"Nothing that was closed is called {id!r}.")
    _require_restorable(context, entry)
    group = context.browsers.group_of(context.session, context.browser)
    input = {"sessionId": id, "group": group, "timeoutMs": context.wait_ms}
    tabs: list[Tab] = await context.in_browser(
        context.browser, "sessions.restore", input, lambda output, _: _take(context, output)
    )
    data = [location(tab) for tab in tabs]
    lines = [f"- tab {tab.id}: {tab.url} {tab.title!r}" for tab in tabs]
    return done(counted_lines("tab", lines, len(lines)), {**data[0], "tabs": data})


def _take(context: Context, output: Json) -> list[Tab]:
    """Give the restored tabs to the caller before any other session can see them."""
    hub, session, browser = context.hub, context.session, context.browser
    states = msgspec.convert(output["tabs"], list[TabState])
    tabs = [context.browsers.learn(browser, state) for state in states]
    if hub.sessions.find(session) is None:
        for tab in tabs:
            context.browsers.release(tab, CLOSE)
        message = "The session has ended; its tabs are closed again."
        raise NotFound(message, "unknown_session", effect="done")
    for tab in tabs:
        hub.ownership.take(session, tab.id)
    if "groupId" in output:
        hub.ownership.grouped(session, browser, output["groupId"])
    return tabs


def _require_restorable(context: Context, entry: Json) -> None:
    if not _may_show(context, entry):
        raise Forbidden("It shows a site that the rules close to you.", "permission_off")
    if not _is_restorable(context, entry):
        raise Forbidden("You may restore only what you closed yourself.", "foreign_tab")


def _may_show(context: Context, entry: Json) -> bool:
    return all(context.may_show(tab["url"]) for tab in entry["tabs"])


def _is_restorable(context: Context, entry: Json) -> bool:
    """In a person's own browser any entry is: the person is asked about the call."""
    closed_by = context.closed_tabs.closed_by(context.browser, entry["sessionId"])
    return closed_by == context.session or not context.browsers.is_managed(context.browser)


def _closed_data(context: Context, entry: Json) -> Json:
    closed_at, usable = timestamp(entry["closedAt"]), _is_restorable(context, entry)
    return {**entry, "closedAt": closed_at, "usable": usable}


def _closed_line(entry: Json) -> str:
    pages = ", ".join(f"{tab['url']} {tab['title']!r}" for tab in entry["tabs"])
    whose = "" if entry["usable"] else " (not yours)"
    return f"- {entry['sessionId']}: {entry['kind']}, {entry['closedAt']}{whose}: {pages}"


_INTEGER: Json = {"type": "integer"}
_SIZE: Json = {"type": "integer", "minimum": 1, "maximum": 8192}
_SETTINGS: Json = {
    "width": {**_SIZE, "description": "Of the whole window; the result has the page's own."},
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
    address_of=_target_url,
    toolsets=BROWSER,
    does=(Ability.OPEN,),
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
    does=(Ability.CLOSE,),
)

GET_RECENTLY_CLOSED = browser_tool(
    name="browser_get_recently_closed",
    title="Recently closed",
    description="Tabs and windows that were closed, the latest first, and which you may restore.",
    handler=_get_recently_closed,
    properties={
        "maxResults": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_CLOSED,
            "description": f"Default {MAX_CLOSED}.",
        },
        "connectionId": CONNECTION,
        "maxTokens": MAX_TOKENS,
    },
    # It changes nothing but is private, as the history is, so it does not count as reading.
    idempotent=True,
    needs_tab=False,
    toolsets=BROWSER,
)

RESTORE_SESSION = browser_tool(
    name="browser_restore_session",
    title="Restore closed tab",
    description=(
        "Bring back a tab that you have closed, with its history, behind what is in front. It is "
        "yours and becomes the current tab. In a person's own browser any tab or window."
    ),
    handler=_restore_session,
    properties={"sessionId": {"type": "string"}, "connectionId": CONNECTION},
    required=("sessionId",),
    needs_tab=False,
    opens_tab=True,
    toolsets=BROWSER,
    does=(Ability.OPEN,),
)


TOOLS = (
    LIST_WINDOWS,
    CREATE_WINDOW,
    UPDATE_WINDOW,
    CLOSE_WINDOW,
    GET_RECENTLY_CLOSED,
    RESTORE_SESSION,
)
