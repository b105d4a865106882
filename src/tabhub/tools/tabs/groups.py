"""Tab groups. What has a tab that is not the caller's is not the caller's to change."""

import secrets
import time
from collections.abc import Mapping
from typing import Any

from tabhub.calls.results import done
from tabhub.errors import NotFound
from tabhub.hub.sessions import COLORS, HANDLE, AgentSession
from tabhub.hub.tabs import Tab
from tabhub.tools.reports import (
    BLANK,
    MAX_TOKENS,
    group_tabs,
    in_group,
    is_own,
    known,
    listed,
    own_numbers,
    required,
)
from tabhub.tools.tabs.tabs import open_tab
from tabhub.tools.tool import BROWSER, CLAUDE, CONNECTION, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult


async def _list(context: Context) -> CallResult:
    groups = await _groups(context)
    counted = "1 tab group" if len(groups) == 1 else f"{len(groups)} tab groups"
    lines = [_line(group) for group in groups]
    return listed(context.arguments, counted, lines, lambda count: {"groups": groups[:count]})


async def _list_tabs(context: Context) -> CallResult:
    wanted = context.arguments["groupId"]
    groups = await _groups(context)
    group = next((group for group in groups if group["groupId"] == wanted), None)
    if group is None:
        raise NotFound(f"There is no tab group {wanted}.")
    tabs = [context.as_told(context.hub.tabs.get(id)) for id in group["tabIds"]]
    lines = [f"- {tab.id}: {tab.url} {tab.title!r}" for tab in tabs]
    shown = [{"tabId": tab.id, "url": tab.url, "title": tab.title} for tab in tabs]

    def shape(count: int) -> Json:
        return {**group, "tabs": shown[:count]}

    return listed(context.arguments, _line(group), lines, shape)


async def _groups(context: Context) -> list[Json]:
    given = context.arguments
    input = {"windowId": given["windowId"]} if "windowId" in given else {}
    output = await context.in_browser(context.browser, "groups.list", input)
    return [_shown(context, group) for group in output["groups"]]


async def _create(context: Context) -> CallResult:
    return await _changed(context, "groups.create")


async def _add(context: Context) -> CallResult:
    return await _changed(context, "groups.add")


async def _update(context: Context) -> CallResult:
    return await _changed(context, "groups.update")


async def _changed(context: Context, command: str) -> CallResult:
    output = await context.in_browser(context.browser, command, _input(context))
    group = _shown(context, output)
    return done(_line(group), group)


async def _remove(context: Context) -> CallResult:
    await context.in_browser(context.browser, "groups.remove", _input(context))
    removed = context.arguments["tabIds"]
    told = ", ".join(map(str, removed))
    return done(f"In no group any more: tabs {told}.", {"removed": removed})


def _input(context: Context) -> Json:
    given = {key: value for key, value in context.arguments.items() if key != "connectionId"}
    tabs = {"tabIds": required(context, given["tabIds"])} if "tabIds" in given else {}
    return {**given, **tabs, "own": own_numbers(context)}


def _shown(context: Context, group: Json) -> Json:
    tabs = known(context, group["tabIds"])
    yours = len(tabs) == len(group["tabIds"]) and all(is_own(context, tab) for tab in tabs)
    return {**group, "tabIds": [tab.id for tab in tabs], "usable": yours}


def _line(group: Json) -> str:
    tabs = ", ".join(map(str, group["tabIds"]))
    marks = ["collapsed"] if group["collapsed"] else []
    marks.append("yours" if group["usable"] else "not yours")
    return (
        f"Tab group {group['groupId']}: {group['title']!r}, {group['color']}; tabs {tabs} "
        f"({', '.join(marks)})"
    )


_GROUP_ID: Json = {"type": "integer"}
_TAB_IDS: Json = {
    "type": "array",
    "items": {"type": "integer"},
    "minItems": 1,
    "uniqueItems": True,
    "description": "Tabs of yours, all in one window.",
}
_LOOK: Json = {"title": {"type": "string"}, "color": {"enum": sorted(COLORS)}}

LIST_TAB_GROUPS = browser_tool(
    name="browser_list_tab_groups",
    title="List tab groups",
    description="The tab groups of a browser or of one window, and which are yours.",
    handler=_list,
    properties={
        "windowId": {"type": "integer"},
        "connectionId": CONNECTION,
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    needs_tab=False,
    toolsets=BROWSER,
)

LIST_TABS_IN_GROUP = browser_tool(
    name="browser_list_tabs_in_group",
    title="List tabs in group",
    description="The tabs of a tab group.",
    handler=_list_tabs,
    properties={"groupId": _GROUP_ID, "connectionId": CONNECTION, "maxTokens": MAX_TOKENS},
    required=("groupId",),
    read_only=True,
    needs_tab=False,
    toolsets=BROWSER,
)

CREATE_TAB_GROUP = browser_tool(
    name="browser_create_tab_group",
    title="Create tab group",
    description="Put tabs of yours into a new tab group.",
    handler=_create,
    properties={"tabIds": _TAB_IDS, **_LOOK, "connectionId": CONNECTION},
    required=("tabIds",),
    needs_tab=False,
    toolsets=BROWSER,
)

ADD_TABS_TO_GROUP = browser_tool(
    name="browser_add_tabs_to_group",
    title="Add tabs to group",
    description="Put tabs of yours into a tab group of yours.",
    handler=_add,
    properties={"groupId": _GROUP_ID, "tabIds": _TAB_IDS, "connectionId": CONNECTION},
    required=("groupId", "tabIds"),
    idempotent=True,
    needs_tab=False,
    toolsets=BROWSER,
)

REMOVE_TABS_FROM_GROUP = browser_tool(
    name="browser_remove_tabs_from_group",
    title="Remove tabs from group",
    description="Take tabs of yours out of their tab groups.",
    handler=_remove,
    properties={"tabIds": _TAB_IDS, "connectionId": CONNECTION},
    required=("tabIds",),
    idempotent=True,
    needs_tab=False,
    toolsets=BROWSER,
)

UPDATE_TAB_GROUP = browser_tool(
    name="browser_update_tab_group",
    title="Update tab group",
    description="Name, colour, collapse or expand a tab group of yours.",
    handler=_update,
    properties={
        "groupId": _GROUP_ID,
        **_LOOK,
        "collapsed": {"type": "boolean"},
        "connectionId": CONNECTION,
    },
    required=("groupId",),
    idempotent=True,
    needs_tab=False,
    toolsets=BROWSER,
)


async def _context(context: Context) -> CallResult:
    creates = context.arguments.get("createIfEmpty", False)
    browser = context.browsers.latest().id
    session = _group(context, creates)
    tabs = group_tabs(context, session.key)
    if not tabs and not creates:
        return done("You have no tab group yet. Pass createIfEmpty: true to make one.", {})
    if not tabs:
        tabs = [await _first_tab(context, session, browser)]
    return in_group(context, session, tabs)


async def _first_tab(context: Context, session: AgentSession, browser: str) -> Tab:
    try:
        tab, _ = await open_tab(context, session.key, browser, BLANK, active=False)
    except BaseException:
        if session.key != context.session:
            context.hub.sessions.end(session.key)
        raise
    context.hub.sessions.use(session.key, tab.id)
    return tab


def _group(context: Context, creates: bool) -> AgentSession:
    """The session whose tabs are meant.

    Calls without a session of their own share the one of their token. To have tabs apart from the
    others' they need a group of their own, and a handle that names it.
    """
    sessions = context.hub.sessions
    known = sessions.find(context.session)
    assert known is not None  # whoever calls has a session
    if not creates or not known.is_common:
        return known
    return sessions.open(HANDLE + secrets.token_urlsafe(16), known.client, known.name, time.time())


def _same_as(given: Mapping[str, Any]) -> tuple[str, ...]:
    opens = ("browser_open_tab",) if given.get("createIfEmpty") else ()
    return ("browser_list_tabs", *opens)


TABS_CONTEXT_MCP = browser_tool(
    name="tabs_context_mcp",
    title="Tabs of my group",
    description=(
        "The tabs of your own tab group. createIfEmpty makes the group with a blank tab if there "
        "is none; a client without a session then names it by groupHandle in _meta tabhub/group."
    ),
    handler=_context,
    properties={
        "createIfEmpty": {"type": "boolean", "description": "Default false."},
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    changes_when="createIfEmpty",
    needs_tab=False,
    same_as=_same_as,
    toolsets=CLAUDE,
)


TOOLS = (
    LIST_TAB_GROUPS,
    LIST_TABS_IN_GROUP,
    CREATE_TAB_GROUP,
    ADD_TABS_TO_GROUP,
    REMOVE_TABS_FROM_GROUP,
    UPDATE_TAB_GROUP,
    TABS_CONTEXT_MCP,
)
