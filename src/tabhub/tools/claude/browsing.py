"""Claude's vocabulary for browsing: tabs of the caller's group, navigation, windows, form fields.

Each tool runs the same commands as its browser_* counterpart and differs in arguments and texts.
"""

import secrets
import time
from collections.abc import Mapping
from typing import Any

from tabhub.calls.marks import quoted
from tabhub.calls.results import done
from tabhub.errors import Forbidden, NotFound
from tabhub.hub.sessions import HANDLE, AgentSession
from tabhub.hub.tabs import Tab
from tabhub.tools.acting.effects import acted
from tabhub.tools.reports import MAX_TOKENS, group_tabs, listed_as_json, tab_line, with_tabs
from tabhub.tools.tabs.tabs import (
    blocker_lines,
    close_tab,
    loading_note,
    location,
    movable_native_ids,
    navigate,
    open_tab,
    target_url,
    url_and_title,
)
from tabhub.tools.tool import BLANK, CLAUDE, HISTORY, REF, Context, Json, address, browser_tool
from tabhub.wire.abilities import Ability
from tabhub.wire.mcp.messages import CallResult

MAX_SIDE = 8192


async def _tabs_context_mcp(context: Context) -> CallResult:
    creates = context.arguments.get("createIfEmpty", False)
    browser = context.browsers.latest().id
    session = _group_session(context, creates)
    tabs = group_tabs(context, session.key)
    if not tabs and not creates:
        return done("You have no tab group yet. Pass createIfEmpty: true to make one.", {})
    if not tabs:
        tabs = [await _first_tab(context, session, browser)]
    return _group_result(context, session, tabs)


def _group_session(context: Context, creates: bool) -> AgentSession:
    """The session whose tabs are meant.

    Clients without a session of their own share the session of their token. To have tabs apart
    from the others they need a group of their own, which a handle names.
    """
    sessions, own = context.hub.sessions, _own_session(context)
    if not creates or not own.is_common:
        return own
    return sessions.open(HANDLE + secrets.token_urlsafe(16), own.client, own.name, time.monotonic())


def _own_session(context: Context) -> AgentSession:
    session = context.hub.sessions.find(context.session)
    assert session is not None  # every caller has one
    return session


async def _first_tab(context: Context, session: AgentSession, browser: str) -> Tab:
    try:
        tab, _ = await open_tab(context, session.key, browser, BLANK, active=False)
    except BaseException:
        if session.key != context.session:
            context.hub.sessions.end(session.key)
        raise
    context.hub.sessions.use(session.key, tab.id)
    return tab


def _group_result(context: Context, session: AgentSession, group: list[Tab]) -> CallResult:
    tabs = [context.redacted(tab) for tab in group]
    common: Json = {"groupHandle": session.key}
    if session.current is not None:
        common["selectedTabId"] = session.current

    def data(count: int) -> Json:
        available = [{"tabId": tab.id, "title": tab.title, "url": tab.url} for tab in tabs[:count]]
        ids = [tab.group_id for tab in tabs[:count] if tab.group_id is not None]
        return {"availableTabs": available, **common, **({"tabGroupId": ids[0]} if ids else {})}

    return listed_as_json(context.arguments, [tab_line(tab) for tab in tabs], data)


async def _tabs_create_mcp(context: Context) -> CallResult:
    url = _new_tab_url(context.arguments)
    tab, blockers = await open_tab(context, context.session, context.browser, url, active=False)
    note = loading_note(tab, blockers)
    head = f"Tab ID: {tab.id}. It is at {url_and_title(tab)}.{note}"
    return done("\n".join([head, *blocker_lines(blockers)]), {**location(tab), **blockers})


async def _tabs_close_mcp(context: Context) -> CallResult:
    await close_tab(context)
    closed = context.tab.id
    left = sum(tab.id != closed for tab in group_tabs(context, context.session))
    rest = f"{left} left in your group." if left else "Your group is empty and gone."
    return done(f"Closed tab {closed}. {rest}", {"closed": closed, "left": left})


async def _tabs_context(context: Context) -> CallResult:
    session = _shown_session(context)
    tabs = group_tabs(context, session.key)
    if not tabs:
        return done("There is no tab group yet. tabs_create opens a tab in one.", {})
    return _group_result(context, session, tabs)


async def _tabs_create(context: Context) -> CallResult:
    session = _shown_session(context)
    url = _new_tab_url(context.arguments)
    tab, blockers = await open_tab(context, session.key, context.browser, url, active=False)
    context.hub.sessions.use(session.key, tab.id)
    head = f"Tab ID: {tab.id}, in the group {session.name!r}. It is at {url_and_title(tab)}."
    lines = [head + loading_note(tab, blockers), *blocker_lines(blockers)]
    return done("\n".join(lines), {**location(tab), **blockers, "groupHandle": session.key})


def _shown_session(context: Context) -> AgentSession:
    """The session whose group the person most likely looks at, of those the caller may use."""
    own = _own_session(context)
    sessions = context.hub.sessions.all()
    reachable = [session for session in sessions if _is_reachable(context, own, session)]
    return max(reachable, key=lambda session: _prominence(context, own, session), default=own)


def _is_reachable(context: Context, own: AgentSession, session: AgentSession) -> bool:
    is_handle = session.client == own.client and session.key.startswith(HANDLE)
    is_halted = context.hub.sessions.is_halted(session.key)
    has_tabs = bool(group_tabs(context, session.key))
    return (session is own or is_handle) and not is_halted and has_tabs


def _prominence(
    context: Context, own: AgentSession, session: AgentSession
) -> tuple[bool, bool, float]:
    """A group in front comes first, then the caller's own, then the one used last."""
    tabs = group_tabs(context, session.key)
    is_in_front = any(tab.active and tab.focused_window for tab in tabs)
    return is_in_front, session is own, session.used


def _new_tab_url(arguments: Mapping[str, Any]) -> str:
    return address(arguments.get("url", BLANK))


async def _navigate(context: Context) -> CallResult:
    url = context.arguments["url"]
    tab, blockers = await (_open if context.call.tab is None else navigate)(context)
    requested = None if url in HISTORY else address(url)
    is_redirected = requested is not None and not blockers and not _is_same(requested, tab.url)
    note = f" It was redirected there from {requested}." if is_redirected else ""
    more = {"requestedUrl": requested} if is_redirected else {}
    head = f"Tab {tab.id} is at {url_and_title(tab)}.{note}{loading_note(tab, blockers)}"
    text = "\n".join([head, *blocker_lines(blockers)])
    return done(text, {**location(tab), **more, **blockers})


async def _open(context: Context) -> tuple[Tab, Json]:
    url = context.arguments["url"]
    if url in HISTORY:
        raise NotFound(f"You have no tab yet that could go {url}.", "no_current_tab")
    return await open_tab(context, context.session, context.browser, address(url), active=False)


def _is_same(requested: str, url: str) -> bool:
    """Whether the browser went where it was sent; it completes and normalizes addresses."""
    return _normalized(requested) == _normalized(url)


def _normalized(url: str) -> str:
    return url.partition("#")[0].rstrip("/").lower()


async def _resize_window(context: Context) -> CallResult:
    arguments = context.arguments
    requested = {"width": arguments["width"], "height": arguments["height"]}
    window = await _update_window(context, requested)
    got = {"width": window["width"], "height": window["height"]}
    data: Json = {"tabId": context.tab.id, "requested": requested, "window": got}
    note = (
        "" if got == requested else f" {_size(requested)} was asked for, but the system chose this."
    )
    viewport = window.get("page") or window.get("viewport")
    page = f" Your page in it is {_size(viewport)}.{_behind_note(window)}" if viewport else ""
    more = {"viewport": viewport} if viewport else {}
    return done(f"The window is {_size(got)} now.{note}{page}", {**data, **more})


def _behind_note(window: Json) -> str:
    if window.get("page") == window.get("viewport"):
        return ""
    return (
        " It is behind another tab and takes the new size when it is shown (browser_focus_tab); "
        "browser_emulate_device gives a page a size at once."
    )


async def _update_window(context: Context, size: Json) -> Json:
    tab = context.tab
    own = movable_native_ids(context, tab.browser)
    input = {"windowId": tab.window_id, "page": tab.native_id, "own": own, **size}
    try:
        window: Json = await context.in_browser(tab.browser, "windows.update", input)
    except Forbidden as error:
        raise Forbidden(
            f"{error.message} browser_create_window opens a page in a window of your own.",
            error.reason,
            effect=error.effect,
        ) from None
    return window


def _size(box: Json) -> str:
    return f"{box['width']}x{box['height']}"


async def _form_input(context: Context) -> CallResult:
    ref, value = context.arguments["ref"], context.arguments["value"]
    output = await context.in_tab("page.set", {"ref": ref, "value": value})
    if output["sensitive"] is False:
        context.call.secrets.clear()
    before = output["before"]
    return acted(context, f"Set {ref}, which held {quoted(before)}", output, before=before)


def _context_abilities(arguments: Mapping[str, Any]) -> tuple[Ability, ...]:
    return (Ability.OPEN,) if arguments.get("createIfEmpty") else ()


def _form_same_as(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    ticks = isinstance(arguments.get("value"), bool)
    return ("browser_click_element",) if ticks else ("browser_type_text", "browser_select_option")


_URL: Json = {"type": "string", "description": "Default a blank page."}
_SIDE: Json = {"type": "integer", "minimum": 1, "maximum": MAX_SIDE}

TABS_CONTEXT_MCP = browser_tool(
    name="tabs_context_mcp",
    title="Tabs of my group",
    description=(
        "The tabs of your own tab group. createIfEmpty makes the group with a blank tab if there "
        "is none; a client without a session then names it by groupHandle in _meta tabhub/group."
    ),
    handler=_tabs_context_mcp,
    properties={
        "createIfEmpty": {"type": "boolean", "description": "Default false."},
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    changes_when="createIfEmpty",
    needs_tab=False,
    same_as=("browser_list_tabs",),
    toolsets=CLAUDE,
    does=_context_abilities,
)

TABS_CREATE_MCP = browser_tool(
    name="tabs_create_mcp",
    title="New tab in my group",
    description="Open a background tab in your own tab group, which is made if there is none.",
    handler=with_tabs(_tabs_create_mcp),
    properties={"url": _URL},
    needs_tab=False,
    opens_tab=True,
    address_of=_new_tab_url,
    toolsets=CLAUDE,
    does=(Ability.OPEN,),
)

TABS_CLOSE_MCP = browser_tool(
    name="tabs_close_mcp",
    title="Close tab of my group",
    description="Close a tab of your own tab group; returns how many are left.",
    handler=_tabs_close_mcp,
    required=("tabId",),
    toolsets=CLAUDE,
    does=(Ability.CLOSE,),
    minor=True,
)

TABS_CONTEXT = browser_tool(
    name="tabs_context",
    title="Tabs of the shown group",
    description=(
        "The tabs of the group before the person: of yours, the one whose tab is in front. Another "
        "than your own is used by its groupHandle in _meta tabhub/group."
    ),
    handler=_tabs_context,
    properties={"maxTokens": MAX_TOKENS},
    read_only=True,
    needs_tab=False,
    same_as=("browser_list_tabs",),
    toolsets=CLAUDE,
)

TABS_CREATE = browser_tool(
    name="tabs_create",
    title="New tab in the shown group",
    description="Open a background tab in the group that tabs_context shows.",
    handler=_tabs_create,
    properties={"url": _URL},
    needs_tab=False,
    address_of=_new_tab_url,
    toolsets=CLAUDE,
    does=(Ability.OPEN,),
)

NAVIGATE = browser_tool(
    name="navigate",
    title="Navigate",
    description=(
        "Go to an address, or back, forward or reload, and wait until the page has loaded. Returns "
        "the final address. Without a tab yet, opens one."
    ),
    handler=with_tabs(_navigate),
    properties={"url": {"type": "string", "minLength": 1}},
    required=("url",),
    opens_tab=True,
    address_of=target_url,
    opens_as=("browser_open_tab",),
    toolsets=CLAUDE,
    does=(Ability.NAVIGATE,),
)

RESIZE_WINDOW = browser_tool(
    name="resize_window",
    title="Resize window",
    description=(
        "Resize the tab's window, unless others have tabs in it. The size is that of the "
        "whole window; returns the size it got and that of the page."
    ),
    handler=with_tabs(_resize_window),
    properties={"width": _SIDE, "height": _SIDE},
    required=("width", "height"),
    idempotent=True,
    same_as=("browser_update_window",),
    toolsets=CLAUDE,
)

FORM_INPUT = browser_tool(
    name="form_input",
    title="Set form field",
    description=(
        "Set a form field: true or false for boxes and radios, an option's value or text for "
        "selects, text or numbers for others. Returns the old and new value."
    ),
    handler=with_tabs(_form_input),
    properties={
        "ref": REF,
        "value": {"type": ["string", "boolean", "number"]},
        "action_summary": {"type": "string"},
    },
    required=("ref", "value"),
    secret_arguments=frozenset({"value"}),
    same_as=_form_same_as,
    toolsets=CLAUDE,
)

TOOLS = (
    TABS_CONTEXT_MCP,
    TABS_CREATE_MCP,
    TABS_CLOSE_MCP,
    TABS_CONTEXT,
    TABS_CREATE,
    NAVIGATE,
    RESIZE_WINDOW,
    FORM_INPUT,
)
