"""Tabs: list, open, close, navigate."""

from asyncio import gather
from collections.abc import Mapping
from typing import Any

import msgspec

from tabhub.browser import opening
from tabhub.browser.opening import Place
from tabhub.calls.results import done
from tabhub.errors import Forbidden
from tabhub.hub.tabs import Tab
from tabhub.tools.acting.effects import asked_for
from tabhub.tools.network.records import waiting_lines, without_credentials
from tabhub.tools.reports import MAX_TOKENS, listed
from tabhub.tools.tool import BROWSER, CONNECTION, HISTORY, Context, Json, address, browser_tool
from tabhub.wire.link import TabState
from tabhub.wire.mcp.messages import CallResult

DIALOG_CHARS = 200


async def _list_tabs(context: Context) -> CallResult:
    browsers = context.browsers.all() or [context.browsers.latest()]
    lists = await gather(*(_tabs_of(context, browser.id) for browser in browsers))
    tabs = [_as_told(context, *one) for found in lists for one in found]
    counted = "1 open tab" if len(tabs) == 1 else f"{len(tabs)} open tabs"
    lines = [f"- {tab.id}: {page(tab)}{_marks(context, tab)}{_asking(asks)}" for tab, asks in tabs]
    shown = [{**_shown(context, tab), **asks} for tab, asks in tabs]
    return listed(context.arguments, counted, lines, lambda count: {"tabs": shown[:count]})


def _as_told(context: Context, tab: Tab, asks: Json) -> tuple[Tab, Json]:
    told = context.as_told(tab)
    return told, asks if told is tab else {}


async def _tabs_of(context: Context, browser: str) -> list[tuple[Tab, Json]]:
    """A browser's tabs, each with the dialog that is open in it, if the caller may use the tab."""

    def learn(output: Json) -> list[tuple[Tab, Json]]:
        states = msgspec.convert(output["tabs"], list[TabState])
        dialogs = {dialog.pop("tabId"): dialog for dialog in output.get("dialogs", [])}
        known = context.browsers.learn_all(browser, states)
        return [(tab, _asks(context, tab, dialogs.get(tab.native_id))) for tab in known]

    tabs: list[tuple[Tab, Json]] = await context.in_browser(browser, "tabs.list", {}, learn)
    return tabs


def _asks(context: Context, tab: Tab, dialog: Json | None) -> Json:
    return {"dialog": dialog} if dialog and _may_use(context, tab) else {}


def _asking(asks: Json) -> str:
    """What waits for an answer; its words are the page's."""
    if not asks:
        return ""
    dialog = asks["dialog"]
    words = " ".join(dialog["message"].split())[:DIALOG_CHARS]
    return f", open: {dialog['type']} {words!r}" if words else f", open: {dialog['type']}"


async def _open_tab(context: Context) -> CallResult:
    given = context.arguments
    url, active = address(given["url"]), given.get("active", False)
    tab, held = await open_tab(context, context.session, context.browser, url, active=active)
    tab = context.as_told(tab)
    told = [f"Opened tab {tab.id}: {page(tab)}{pending(tab, held)}", *held_up(held)]
    return done("\n".join(told), {**location(tab), **held})


async def open_tab(
    context: Context, session: str, browser: str, url: str, *, active: bool
) -> tuple[Tab, Json]:
    """Open a tab in a session's group; the tab, and what holds its page up."""
    tab, output = await opened(context, session, browser, {"url": url, "active": active})
    if "groupId" in output:
        context.hub.ownership.grouped(session, browser, output["groupId"])
    return tab, _held(output)


async def opened(context: Context, session: str, browser: str, input: Json) -> tuple[Tab, Json]:
    """A new tab, which is the session's before anybody else hears of it, and what was told."""

    place = Place(context.browsers, context.hub, session, browser)
    found = await opening.opened(place, input, context.wait_ms, context.report)
    context.answered = True
    return found


async def _close_tab(context: Context) -> CallResult:
    await close(context)
    return done(f"Closed tab {context.tab.id}.", {"closed": context.tab.id})


async def close(context: Context) -> None:
    """Close the tab, which must be the caller's own."""
    if context.hub.ownership.owner(context.tab.id) != context.session:
        raise Forbidden(
            f"Tab {context.tab.id} is the person's: it is shared to be used, not to be closed.",
            "foreign_tab",
        )
    output = await context.in_tab("tabs.close", {})
    if "sessionId" in output:
        context.closings.note(context.tab.browser, output["sessionId"], context.session)


async def _navigate_tab(context: Context) -> CallResult:
    tab, held = await navigate(context)
    tab = context.as_told(tab)
    told = [f"Tab {tab.id} is at {page(tab)}{pending(tab, held)}", *held_up(held)]
    return done("\n".join(told), {**location(tab), **held})


async def navigate(context: Context) -> tuple[Tab, Json]:
    """Send the tab where a call says, and wait until it is there, or the agent holds it up."""
    wanted = context.arguments["url"]
    url = wanted if wanted in HISTORY else address(wanted)
    input = {"url": url, "timeoutMs": context.wait_ms}
    arrived: tuple[Tab, Json] = await context.in_tab(
        "tabs.navigate", input, lambda told: _arrived(context, told)
    )
    return arrived


def held_up(held: Json) -> list[str]:
    """What the agent has to answer before the page goes on."""
    lines = ["You hold requests up:", *waiting_lines(held)] if "waiting" in held else []
    return [*lines, asked_for(held["dialog"])] if "dialog" in held else lines


def _held(output: Json) -> Json:
    held: Json = {name: output[name] for name in ("waiting", "dialog") if name in output}
    if "waiting" in held:
        held["waiting"] = without_credentials(held["waiting"])
    return held


async def _focus_tab(context: Context) -> CallResult:
    tab = await context.in_tab("tabs.focus", {}, lambda output: _moved(context, output))
    return done(f"Tab {tab.id} is in front: {page(tab)}", location(tab))


async def _get_tab_info(context: Context) -> CallResult:
    def learn(output: Json) -> tuple[Tab, Json, Json]:
        tab = context.browsers.learn(context.tab.browser, msgspec.convert(output, TabState))
        return tab, output.get("emulated", {}), _asks(context, tab, output.get("dialog"))

    tab, emulated, asks = await context.in_tab("tabs.info", {}, learn)
    told = f"Tab {tab.id}: {page(tab)}{_marks(context, tab)}, {tab.status}{_asking(asks)}"
    told += f", emulated: {', '.join(emulated)}" if emulated else ""
    return done(told, {**location(tab), **_shown(context, tab), "emulated": emulated, **asks})


def _arrived(context: Context, output: Json) -> tuple[Tab, Json]:
    return _moved(context, output), _held(output)


def _moved(context: Context, output: Json) -> Tab:
    return context.browsers.moved(context.tab.browser, msgspec.convert(output, TabState))


def target(given: Mapping[str, Any]) -> str | None:
    """The address that arguments name; none when they only go back or forth."""
    wanted = given.get("url", "")
    return None if wanted in HISTORY or not wanted else address(wanted)


def _marks(context: Context, tab: Tab) -> str:
    marks = ["active"] if tab.active else []
    if context.hub.ownership.owner(tab.id) == context.session:
        marks.append("yours")
    elif (owner := context.hub.routes.owner_of(tab)) is not None:
        marks.append(f"of the agent {owner}")
    else:
        marks.append("shared with you" if _may_use(context, tab) else "the person's")
    return f" ({', '.join(marks)})"


def _may_use(context: Context, tab: Tab) -> bool:
    return context.hub.ownership.may_use(context.session, tab)


def page(tab: Tab) -> str:
    """Where a tab is, in words."""
    title = " ".join(tab.title.split())
    return f"{tab.url} {title!r}" if title else tab.url


def pending(tab: Tab, held: Json) -> str:
    """What is to be said of a page that has not loaded."""
    if tab.status == "complete":
        return ""
    why = "" if held else ": time was up before it ended"
    return f". It is still loading{why}."


def location(tab: Tab) -> Json:
    """Where a tab is, for programs."""
    return {"tabId": tab.id, "url": tab.url, "title": tab.title, "status": tab.status}


def _shown(context: Context, tab: Tab) -> Json:
    shown: Json = {
        "tabId": tab.id,
        "url": tab.url,
        "title": tab.title,
        "active": tab.active,
        "windowId": tab.window_id,
        "browser": tab.browser,
        "usable": _may_use(context, tab),
    }
    optional = {"groupId": tab.group_id, "owner": context.hub.routes.owner_of(tab)}
    return shown | {key: value for key, value in optional.items() if value is not None}


LIST_TABS = browser_tool(
    name="browser_list_tabs",
    title="List tabs",
    description=("All open tabs, and whose. You can use your own and those the person shares."),
    handler=_list_tabs,
    properties={"maxTokens": MAX_TOKENS},
    read_only=True,
    needs_tab=False,
)

OPEN_TAB = browser_tool(
    name="browser_open_tab",
    title="Open tab",
    description=("Open a page in a new background tab and wait until it has loaded."),
    handler=_open_tab,
    properties={
        "url": {"type": "string", "description": "Address; https:// is assumed."},
        "active": {"type": "boolean", "description": "Bring it to the front. Default false."},
        "connectionId": CONNECTION,
    },
    required=("url",),
    needs_tab=False,
    opens_tab=True,
    address_of=target,
)

CLOSE_TAB = browser_tool(
    name="browser_close_tab",
    title="Close tab",
    description="Close a tab.",
    handler=_close_tab,
)

NAVIGATE_TAB = browser_tool(
    name="browser_navigate_tab",
    title="Navigate tab",
    description="Go to an address and wait until the page has loaded.",
    handler=_navigate_tab,
    properties={
        "url": {"type": "string", "description": "Address, or back, forward or reload."},
    },
    required=("url",),
    address_of=target,
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
