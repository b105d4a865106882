"""Tabs: list, open, close, navigate, focus; and which of them belong to the caller."""

from asyncio import gather
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tabhub.browser import opening
from tabhub.browser.opening import NewTabPlace
from tabhub.calls.marks import escaped, quoted
from tabhub.calls.results import done
from tabhub.errors import Forbidden, InvalidArguments
from tabhub.hub.tabs import Tab
from tabhub.tools.acting.effects import dialog_sentence
from tabhub.tools.acting.observing import OBSERVE, shown_page
from tabhub.tools.network.interception import waiting_lines, without_credentials
from tabhub.tools.reports import MAX_TOKENS, listed
from tabhub.tools.tool import BROWSER, CONNECTION, HISTORY, Context, Json, address, browser_tool
from tabhub.tools.walls import told
from tabhub.wire.abilities import Ability
from tabhub.wire.link import TabState
from tabhub.wire.mcp.messages import CallResult

DIALOG_CHARS = 200
_UNDRAWN = {
    "yet": "Nothing drawn yet.",
    "background": "Nothing drawn yet: the tab is in the background and has no debugger attached, "
    "so the browser does not draw it. browser_focus_tab brings it to the front.",
}


async def _list_tabs(context: Context) -> CallResult:
    browsers = context.browsers.all() or [context.browsers.latest()]
    lists = await gather(*(_tabs_of(context, browser.id) for browser in browsers))
    # What a walled page says in a dialog is not shown either.
    tabs = [
        (tab, dialog if context.may_show(tab.url) else {}) for tabs in lists for tab, dialog in tabs
    ]
    head = "1 open tab" if len(tabs) == 1 else f"{len(tabs)} open tabs"
    lines = [
        f"- {tab.id}: {_url_and_title(tab)}{_marks(context, tab)}{_dialog_note(dialog)}"
        for tab, dialog in tabs
    ]
    data = [{**_tab_data(context, tab), **dialog} for tab, dialog in tabs]
    return listed(
        context.arguments, head, lines, lambda count: {"tabs": data[:count]}, from_page=True
    )


async def _tabs_of(context: Context, browser: str) -> list[tuple[Tab, Json]]:
    """A browser's tabs, each with its open dialog if the caller may use the tab."""

    def learn(output: Json, shown: Json) -> list[tuple[Tab, Json]]:
        states = msgspec.convert(output["tabs"], list[TabState])
        dialogs = {dialog.pop("tabId"): dialog for dialog in shown.get("dialogs", [])}
        tabs = context.browsers.learn_all(browser, states)
        return [(tab, _dialog_data(context, tab, dialogs.get(tab.native_id))) for tab in tabs]

    tabs: list[tuple[Tab, Json]] = await context.in_browser(browser, "tabs.list", {}, learn)
    return tabs


def _dialog_data(context: Context, tab: Tab, dialog: Json | None) -> Json:
    return {"dialog": dialog} if dialog and _may_use(context, tab) else {}


def _dialog_note(data: Json) -> str:
    if not data:
        return ""
    dialog = data["dialog"]
    message = escaped(dialog["message"])[:DIALOG_CHARS]
    return f", open: {dialog['type']} {message!r}" if message else f", open: {dialog['type']}"


async def _open_tab(context: Context) -> CallResult:
    arguments = context.arguments
    url, active = address(arguments["url"]), arguments.get("active", False)
    tab, blockers = await open_tab(context, context.session, context.browser, url, active=active)
    head = f"Opened tab {tab.id}: {url_and_title(tab)}{loading_note(tab, blockers)}"
    return await _arrived(context, tab, head, blockers)


async def open_tab(
    context: Context, session: str, browser: str, url: str, *, active: bool
) -> tuple[Tab, Json]:
    """Open a tab in a session's group; returns the tab and what keeps its page from loading."""
    tab, output = await new_tab(context, session, browser, {"url": url, "active": active})
    if "groupId" in output:
        context.hub.ownership.grouped(session, browser, output["groupId"])
    return tab, _blockers(output)


async def new_tab(context: Context, session: str, browser: str, input: Json) -> tuple[Tab, Json]:
    """Open a tab that belongs to the session at once; returns it and the browser's output."""
    place = NewTabPlace(context.browsers, context.hub, session, browser)
    context.require_ability("tabs.open")
    running = opening.opened(place, input, context.wait_ms, context.report)
    tab, output = await context.told("tabs.open", running)
    return tab, told("tabs.open", output, context.call.may_tell)


async def _close_tab(context: Context) -> CallResult:
    await close_tab(context)
    return done(f"Closed tab {context.tab.id}.", {"closed": context.tab.id})


async def close_tab(context: Context) -> None:
    """Close the tab, which must be the caller's own."""
    if not context.owns(context.tab):
        raise Forbidden(
            f"Tab {context.tab.id} belongs to the person, who shares it: you may use it, but not "
            "close it.",
            "foreign_tab",
        )
    output = await context.in_tab("tabs.close", {})
    if "sessionId" in output:
        context.closed_tabs.add(context.tab.browser, output["sessionId"], context.session)


async def _navigate_tab(context: Context) -> CallResult:
    tab, blockers = await navigate(context)
    head = f"Tab {tab.id} is at {url_and_title(tab)}{loading_note(tab, blockers)}"
    return await _arrived(context, tab, head, blockers)


async def _arrived(context: Context, tab: Tab, head: str, blockers: Json) -> CallResult:
    """Where the tab is now, and its page if it is small or was asked for."""
    known = context.hub.tabs.find(tab.id)
    page = "" if blockers or known is None else await shown_page(context, known)
    text = "\n".join([head, *blocker_lines(blockers)]) + page
    return done(text, {**location(tab), **blockers})


async def navigate(context: Context) -> tuple[Tab, Json]:
    """Navigate, and wait until the page has loaded or something that the agent holds blocks it."""
    url = context.arguments["url"]
    input = {"url": url if url in HISTORY else address(url), "timeoutMs": context.wait_ms}

    def learn(output: Json, shown: Json) -> tuple[Tab, Json]:
        return _moved(context, output), _blockers(shown)

    arrived: tuple[Tab, Json] = await context.in_tab("tabs.navigate", input, learn)
    return arrived


def blocker_lines(blockers: Json) -> list[str]:
    """What the agent has to answer before the page can go on, and that it shows nothing yet."""
    waiting = "waiting" in blockers
    lines = ["You are holding requests of this page:", *waiting_lines(blockers)] if waiting else []
    if "dialog" in blockers:
        lines.append(dialog_sentence(blockers["dialog"]))
    if "undrawn" in blockers:
        lines.append(_UNDRAWN[blockers["undrawn"]])
    return lines


def _blockers(output: Json) -> Json:
    names = ("waiting", "dialog", "undrawn")
    blockers: Json = {name: output[name] for name in names if name in output}
    if "waiting" in blockers:
        blockers["waiting"] = without_credentials(blockers["waiting"])
    return blockers


def loading_note(tab: Tab, blockers: Json) -> str:
    """A note about a page that has not finished loading."""
    if tab.status == "complete":
        return ""
    why = "" if blockers else ": it did not finish in time"
    return f". It is still loading{why}."


async def _focus_tab(context: Context) -> CallResult:
    tab = await context.in_tab("tabs.focus", {}, lambda output, _: _moved(context, output))
    return done(f"Tab {tab.id} is in front: {url_and_title(tab)}", location(tab))


async def _get_tab_info(context: Context) -> CallResult:
    def learn(output: Json, shown: Json) -> tuple[Tab, Json, Json]:
        tab = context.browsers.learn(context.tab.browser, msgspec.convert(output, TabState))
        return tab, output.get("emulated", {}), _dialog_data(context, tab, shown.get("dialog"))

    tab, emulated, dialog = await context.in_tab("tabs.info", {}, learn)
    dialog = dialog if context.may_show(tab.url) else {}
    open_dialog = f". {dialog_sentence(dialog['dialog'])}" if dialog else ""
    marks = f"{_marks(context, tab)}, {tab.status}"
    note = f", emulated: {', '.join(emulated)}" if emulated else ""
    data = {**location(tab), **_tab_data(context, tab), "emulated": emulated, **dialog}
    return done(f"Tab {tab.id}: {url_and_title(tab)}{marks}{note}{open_dialog}", data)


def _moved(context: Context, output: Json) -> Tab:
    return context.browsers.moved(context.tab.browser, msgspec.convert(output, TabState))


def target_url(arguments: Mapping[str, Any]) -> str | None:
    """The address that arguments name; None if they only go back, forward or reload."""
    url = arguments.get("url", "")
    return None if url in HISTORY or not url else address(url)


def url_and_title(tab: Tab) -> str:
    """Where a tab is, within a sentence."""
    return quoted(_url_and_title(tab))


def _url_and_title(tab: Tab) -> str:
    title = " ".join(tab.title.split())
    return f"{tab.url} {title!r}" if title else tab.url


def location(tab: Tab) -> Json:
    """Where a tab is, as data."""
    return {"tabId": tab.id, "url": tab.url, "title": tab.title, "status": tab.status}


def _marks(context: Context, tab: Tab) -> str:
    marks = ["active"] if tab.active else []
    if context.owns(tab):
        marks.append("yours")
    elif (owner := context.hub.routes.owner_of(tab)) is not None:
        marks.append(f"of the agent {owner}")
    else:
        marks.append("shared with you" if _may_use(context, tab) else "the person's")
    return f" ({', '.join(marks)})"


def _may_use(context: Context, tab: Tab) -> bool:
    return context.hub.ownership.may_use(context.session, tab)


def _tab_data(context: Context, tab: Tab) -> Json:
    data: Json = {
        "tabId": tab.id,
        "url": tab.url,
        "title": tab.title,
        "active": tab.active,
        "windowId": tab.window_id,
        "browser": tab.browser,
        "usable": _may_use(context, tab),
    }
    optional = {"groupId": tab.group_id, "owner": context.hub.routes.owner_of(tab)}
    return data | {key: value for key, value in optional.items() if value is not None}


def with_own_tabs(context: Context, item: Json) -> Json:
    """A window or group with tabhub's tab ids; it is the caller's if all of its tabs are."""
    found = (context.hub.tabs.by_native(context.browser, id) for id in item["tabIds"])
    tabs = [tab for tab in found if tab is not None]
    is_own = len(tabs) == len(item["tabIds"]) and all(context.owns(tab) for tab in tabs)
    return {**item, "tabIds": [tab.id for tab in tabs], "usable": is_own}


def own_native_ids(context: Context, browser: str | None = None) -> list[int]:
    """The browser's ids of the caller's tabs, with which the browser checks ownership again."""
    tabs = context.hub.tabs.of_browser(context.browser if browser is None else browser)
    return [tab.native_id for tab in tabs if context.owns(tab)]


def movable_native_ids(context: Context, browser: str) -> list[int]:
    """The browser's ids of the tabs whose window the caller may resize.

    In the agents' own browser these include tabs without an owner, because a window opens with a
    blank one. The caller may not close them.
    """
    owner, is_managed = context.hub.ownership.owner, context.browsers.is_managed(browser)
    tabs = context.hub.tabs.of_browser(browser)
    unowned = [tab.native_id for tab in tabs if is_managed and owner(tab.id) is None]
    return own_native_ids(context, browser) + unowned


def require_own(context: Context, ids: Iterable[int]) -> list[int]:
    """The browser's ids of tabs that must all be the caller's, in the browser of the call."""
    return [_require_own(context, id).native_id for id in ids]


def _require_own(context: Context, id: int) -> Tab:
    tab = context.hub.routes.tab(context.session, id)
    if not context.owns(tab):
        raise Forbidden(f"Tab {id} is shared with you, but it is not yours.", "foreign_tab")
    if tab.browser != context.browser:
        raise InvalidArguments(f"Tab {id} is in another browser: give connectionId {tab.browser}.")
    return tab


LIST_TABS = browser_tool(
    name="browser_list_tabs",
    title="List tabs",
    description="All open tabs, and whose. You can use your own and those the person shares.",
    handler=_list_tabs,
    properties={"maxTokens": MAX_TOKENS},
    read_only=True,
    needs_tab=False,
)

OPEN_TAB = browser_tool(
    name="browser_open_tab",
    title="Open tab",
    description="Open a page in a new background tab and wait until it has loaded.",
    handler=_open_tab,
    properties={
        "url": {"type": "string", "description": "Address; https:// is assumed."},
        "active": {"type": "boolean", "description": "Bring it to the front. Default false."},
        "connectionId": CONNECTION,
        "observe": OBSERVE,
    },
    required=("url",),
    needs_tab=False,
    opens_tab=True,
    address_of=target_url,
    does=(Ability.OPEN,),
)

CLOSE_TAB = browser_tool(
    name="browser_close_tab",
    title="Close tab",
    description="Close a tab.",
    handler=_close_tab,
    does=(Ability.CLOSE,),
    minor=True,
)

NAVIGATE_TAB = browser_tool(
    name="browser_navigate_tab",
    title="Navigate tab",
    description="Go to an address and wait until the page has loaded.",
    handler=_navigate_tab,
    properties={
        "url": {"type": "string", "description": "Address, or back, forward or reload."},
        "observe": OBSERVE,
    },
    required=("url",),
    address_of=target_url,
    does=(Ability.NAVIGATE,),
)

FOCUS_TAB = browser_tool(
    name="browser_focus_tab",
    title="Focus tab",
    description=(
        "Bring a tab and its window to the front, where the person sees it. No other tool needs "
        "that: they all work in background tabs."
    ),
    handler=_focus_tab,
    idempotent=True,
    toolsets=BROWSER,
)

GET_TAB_INFO = browser_tool(
    name="browser_get_tab_info",
    title="Tab info",
    description="Address, title and loading state of a tab, its window and its tab group.",
    handler=_get_tab_info,
    read_only=True,
    toolsets=BROWSER,
)

TOOLS = (LIST_TABS, OPEN_TAB, CLOSE_TAB, NAVIGATE_TAB, FOCUS_TAB, GET_TAB_INFO)
