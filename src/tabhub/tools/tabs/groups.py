"""Tab groups. A group belongs to an agent only if all of its tabs do."""

from tabhub.calls.marks import quoted
from tabhub.calls.results import done
from tabhub.errors import NotFound
from tabhub.hub.sessions import GROUP_COLORS
from tabhub.tools.reports import MAX_TOKENS, counted, listed
from tabhub.tools.tabs.tabs import own_native_ids, require_own, with_own_tabs
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult


async def _list(context: Context) -> CallResult:
    groups = await _groups(context)
    head = counted(len(groups), "tab group")
    lines = [_line(group, repr(group["title"])) for group in groups]
    return listed(
        context.arguments, head, lines, lambda count: {"groups": groups[:count]}, from_page=True
    )


async def _list_tabs(context: Context) -> CallResult:
    id = context.arguments["groupId"]
    group = next((group for group in await _groups(context) if group["groupId"] == id), None)
    if group is None:
        raise NotFound(f"There is no tab group {id}.")
    tabs = [context.redacted(context.hub.tabs.get(id)) for id in group["tabIds"]]
    lines = [f"- {tab.id}: {tab.url} {tab.title!r}" for tab in tabs]
    data = [{"tabId": tab.id, "url": tab.url, "title": tab.title} for tab in tabs]
    return listed(
        context.arguments,
        _line(group, quoted(group["title"])),
        lines,
        lambda count: {**group, "tabs": data[:count]},
        from_page=True,
    )


async def _groups(context: Context) -> list[Json]:
    arguments = context.arguments
    input = {"windowId": arguments["windowId"]} if "windowId" in arguments else {}
    output = await context.in_browser(context.browser, "groups.list", input)
    return [with_own_tabs(context, group) for group in output["groups"]]


async def _create(context: Context) -> CallResult:
    return await _change(context, "groups.create")


async def _add(context: Context) -> CallResult:
    return await _change(context, "groups.add")


async def _update(context: Context) -> CallResult:
    return await _change(context, "groups.update")


async def _change(context: Context, command: str) -> CallResult:
    output = await context.in_browser(context.browser, command, _input(context))
    group = with_own_tabs(context, output)
    return done(_line(group, quoted(group["title"])), group)


async def _remove(context: Context) -> CallResult:
    await context.in_browser(context.browser, "groups.remove", _input(context))
    removed = context.arguments["tabIds"]
    tabs = ", ".join(map(str, removed))
    return done(f"Removed from their groups: tabs {tabs}.", {"removed": removed})


def _input(context: Context) -> Json:
    given = {key: value for key, value in context.arguments.items() if key != "connectionId"}
    tabs = {"tabIds": require_own(context, given["tabIds"])} if "tabIds" in given else {}
    return {**given, **tabs, "own": own_native_ids(context)}


def _line(group: Json, title: str) -> str:
    tabs = ", ".join(map(str, group["tabIds"]))
    marks = ["collapsed"] if group["collapsed"] else []
    marks.append("yours" if group["usable"] else "not yours")
    return (
        f"Tab group {group['groupId']}: {title}, {group['color']}; tabs {tabs} ({', '.join(marks)})"
    )


_GROUP_ID: Json = {"type": "integer"}
_TAB_IDS: Json = {
    "type": "array",
    "items": {"type": "integer"},
    "minItems": 1,
    "uniqueItems": True,
    "description": "Tabs of yours, all in one window.",
}
_LOOK: Json = {"title": {"type": "string"}, "color": {"enum": sorted(GROUP_COLORS)}}

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
