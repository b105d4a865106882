"""The browser's windows. What has a tab that is not the caller's is not the caller's to change."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tabhub.browser.link.browsers import CLOSE
from tabhub.calls.results import done
from tabhub.errors import Forbidden, NotFound
from tabhub.hub.tabs import Tab
from tabhub.tools.data.browsing_data import iso, listed_from_pages
from tabhub.tools.reports import (
    MAX_TOKENS,
    fitting,
    is_own,
    known,
    listed,
    movable_numbers,
    own_numbers,
)
from tabhub.tools.tabs.tabs import opened
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, address, browser_tool
from tabhub.wire.link import TabState
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


MOST = 25


async def _recent(context: Context) -> CallResult:
    given = context.arguments
    found = await _closed(context, given.get("maxResults", MOST))
    told = [_closed_shown(context, session) for session in found if _may_tell(context, session)]
    lines = fitting(map(_closed_line, told), given)
    shown: Json = {"sessions": told[: len(lines)], "total": len(told)}
    return done(listed_from_pages("closed tab or window", lines, len(told)), shown)


async def _closed(context: Context, limit: int) -> list[Json]:
    output = await context.in_browser(context.browser, "sessions.recent", {"maxResults": limit})
    found: list[Json] = output["sessions"]
    return found


async def _restore(context: Context) -> CallResult:
    name, session = context.arguments["sessionId"], context.session
    known = next((one for one in await _closed(context, MOST) if one["sessionId"] == name), None)
    if known is None:
        raise NotFound(f"Nothing that was closed is called {name!r}.")
    _require(context, known)
    group = context.browsers.group_of(session, context.browser)
    input = {"sessionId": name, "group": group, "timeoutMs": context.wait_ms}
    tabs: list[Tab] = await context.in_browser(
        context.browser, "sessions.restore", input, lambda output: _taken(context, output)
    )
    tabs = [context.as_told(tab) for tab in tabs]
    told = [
        {"tabId": tab.id, "url": tab.url, "title": tab.title, "status": tab.status} for tab in tabs
    ]
    lines = [f"- tab {tab.id}: {tab.url} {tab.title!r}" for tab in tabs]
    return done(listed_from_pages("tab", lines, len(lines)), {**told[0], "tabs": told})


def _taken(context: Context, output: Json) -> list[Tab]:
    """The tabs are the caller's before anybody else hears of them."""
    hub, session, browser = context.hub, context.session, context.browser
    states = msgspec.convert(output["tabs"], list[TabState])
    tabs = [context.browsers.learn(browser, state) for state in states]
    if hub.sessions.find(session) is None:
        for tab in tabs:
            context.browsers.let_go(tab, CLOSE)
        message = "The session has ended; its tabs are closed again."
        raise NotFound(message, "unknown_session", effect="done")
    for tab in tabs:
        hub.ownership.take(session, tab.id)
    if "groupId" in output:
        hub.ownership.grouped(session, browser, output["groupId"])
    return tabs


def _require(context: Context, known: Json) -> None:
    if not _may_tell(context, known):
        raise Forbidden("It shows a site where this is not allowed.", "permission_off")
    if context.browsers.is_managed(context.browser) and not _is_own(context, known):
        raise Forbidden("It was not you who closed this: it is not yours.", "foreign_tab")


def _may_tell(context: Context, session: Json) -> bool:
    return all(context.may_tell(tab["url"]) for tab in session["tabs"])


def _is_own(context: Context, session: Json) -> bool:
    return context.closings.by(context.browser, session["sessionId"]) == context.session


def _closed_shown(context: Context, session: Json) -> Json:
    mine = _is_own(context, session)
    usable = mine or not context.browsers.is_managed(context.browser)
    return {**session, "closedAt": iso(session["closedAt"]), "usable": usable}


def _closed_line(session: Json) -> str:
    pages = ", ".join(f"{tab['url']} {tab['title']!r}" for tab in session["tabs"])
    whose = "" if session["usable"] else " (not yours)"
    return f"- {session['sessionId']}: {session['kind']}, {session['closedAt']}{whose}: {pages}"


GET_RECENTLY_CLOSED = browser_tool(
    name="browser_get_recently_closed",
    title="Recently closed",
    description="Tabs and windows that were closed, the latest first, and which you may restore.",
    handler=_recent,
    properties={
        "maxResults": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST,
            "description": f"Default {MOST}.",
        },
        "connectionId": CONNECTION,
        "maxTokens": MAX_TOKENS,
    },
    # As for the history: nothing changes, but it is about the person.
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
    handler=_restore,
    properties={"sessionId": {"type": "string"}, "connectionId": CONNECTION},
    required=("sessionId",),
    needs_tab=False,
    opens_tab=True,
    toolsets=BROWSER,
)


TOOLS = (
    LIST_WINDOWS,
    CREATE_WINDOW,
    UPDATE_WINDOW,
    CLOSE_WINDOW,
    GET_RECENTLY_CLOSED,
    RESTORE_SESSION,
)
