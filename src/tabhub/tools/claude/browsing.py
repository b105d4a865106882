"""Opening and closing tabs of the caller's own group."""

from collections.abc import Mapping
from typing import Any

from tabhub.calls.results import done
from tabhub.errors import Forbidden, NotFound
from tabhub.hub.sessions import HANDLE, AgentSession
from tabhub.hub.tabs import Tab
from tabhub.tools.acting.effects import acted
from tabhub.tools.reports import BLANK, MAX_TOKENS, group_tabs, in_group, movable_numbers, with_tabs
from tabhub.tools.tabs.tabs import (
    close,
    held_up,
    location,
    navigate,
    open_tab,
    page,
    pending,
    target,
)
from tabhub.tools.tool import CLAUDE, HISTORY, REF, Context, Json, address, browser_tool
from tabhub.wire.mcp.messages import CallResult

URL: Json = {"type": "string", "description": "Default a blank page."}


def group_target(given: Mapping[str, Any]) -> str:
    """Where a new tab goes."""
    return address(given.get("url", BLANK))


async def _create(context: Context) -> CallResult:
    url = group_target(context.arguments)
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
    address_of=group_target,
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


async def _context(context: Context) -> CallResult:
    session = _shown(context)
    tabs = group_tabs(context, session.key)
    if not tabs:
        return done("There is no tab group yet. tabs_create opens a tab in one.", {})
    return in_group(context, session, tabs)


async def _create_shown(context: Context) -> CallResult:
    session = _shown(context)
    url = group_target(context.arguments)
    tab, held = await open_tab(context, session.key, context.browser, url, active=False)
    context.hub.sessions.use(session.key, tab.id)
    tab = context.as_told(tab)
    told = f"Tab ID: {tab.id}, in the group {session.name!r}. It is at {page(tab)}."
    lines = [told + pending(tab, held), *held_up(held)]
    return done("\n".join(lines), {**location(tab), **held, "groupHandle": session.key})


def _shown(context: Context) -> AgentSession:
    sessions = context.hub.sessions
    own = sessions.find(context.session)
    assert own is not None  # whoever calls has a session
    groups = [session for session in sessions.all() if _is_at_hand(context, own, session)]
    return max(groups, key=lambda group: _prominence(context, own, group), default=own)


def _is_at_hand(context: Context, own: AgentSession, group: AgentSession) -> bool:
    is_reachable = group is own or (group.client == own.client and group.key.startswith(HANDLE))
    is_halted = context.hub.sessions.is_halted(group.key)
    return is_reachable and not is_halted and bool(group_tabs(context, group.key))


def _prominence(
    context: Context, own: AgentSession, group: AgentSession
) -> tuple[bool, bool, float]:
    """In front comes before one's own, and that before what was used last."""
    tabs = group_tabs(context, group.key)
    is_in_front = any(tab.active and tab.focused_window for tab in tabs)
    return is_in_front, group is own, group.used


TABS_CONTEXT = browser_tool(
    name="tabs_context",
    title="Tabs of the shown group",
    description=(
        "The tabs of the group before the person: of yours, the one whose tab is in front. Another "
        "than your own is used by its groupHandle in _meta tabhub/group."
    ),
    handler=_context,
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
    handler=_create_shown,
    properties={"url": URL},
    needs_tab=False,
    address_of=group_target,
    same_as=("browser_open_tab",),
    toolsets=CLAUDE,
)


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


async def _form_input(context: Context) -> CallResult:
    given = context.arguments
    output = await context.in_tab("page.set", {"ref": given["ref"], "value": given["value"]})
    if output["sensitive"] is False:
        context.call.secrets.clear()
    before = output["before"]
    return acted(context, f"Set {given['ref']}, which held {before!r}", output, before=before)


def _same_as(given: Mapping[str, Any]) -> tuple[str, ...]:
    ticks = isinstance(given.get("value"), bool)
    return ("browser_click_element",) if ticks else ("browser_type_text", "browser_select_option")


FORM_INPUT = browser_tool(
    name="form_input",
    title="Set form field",
    description=(
        "Set a form field: true or false for boxes and radios, an option's value or text for "
        "selects, text or numbers for others. Tells the old and the new value."
    ),
    handler=with_tabs(_form_input),
    properties={
        "ref": REF,
        "value": {"type": ["string", "boolean", "number"]},
        "action_summary": {"type": "string"},
    },
    required=("ref", "value"),
    secret_arguments=frozenset({"value"}),
    same_as=_same_as,
    toolsets=CLAUDE,
)


TOOLS = (
    TABS_CREATE_MCP,
    TABS_CLOSE_MCP,
    TABS_CONTEXT,
    TABS_CREATE,
    NAVIGATE,
    RESIZE_WINDOW,
    FORM_INPUT,
)
