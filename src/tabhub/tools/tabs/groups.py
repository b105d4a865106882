"""Tab groups. What has a tab that is not the caller's is not the caller's to change."""

from tabhub.calls.results import done
from tabhub.errors import NotFound
from tabhub.hub.sessions import COLORS
from tabhub.tools.budget import MAX_TOKENS
from tabhub.tools.own import is_own, known, own_numbers, required
from tabhub.tools.reports import listed
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, browser_tool
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

TOOLS = (
    LIST_TAB_GROUPS,
    LIST_TABS_IN_GROUP,
    CREATE_TAB_GROUP,
    ADD_TABS_TO_GROUP,
    REMOVE_TABS_FROM_GROUP,
    UPDATE_TAB_GROUP,
)
