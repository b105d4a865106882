"""The group that a person has before them: the client's own whose tab is in front.

Only groups that the caller could name by a handle count, so no other client's tabs are told.
"""

from tabhub.calls.results import done
from tabhub.hub.sessions import HANDLE, AgentSession
from tabhub.tools.budget import MAX_TOKENS
from tabhub.tools.caller_tabs import group_tabs
from tabhub.tools.claude.browsing import URL, target
from tabhub.tools.groups import in_group
from tabhub.tools.tabs.tabs import held_up, location, open_tab, page, pending
from tabhub.tools.tool import CLAUDE, Context, browser_tool
from tabhub.wire.mcp.messages import CallResult


async def _context(context: Context) -> CallResult:
    session = _shown(context)
    tabs = group_tabs(context, session.key)
    if not tabs:
        return done("There is no tab group yet. tabs_create opens a tab in one.", {})
    return in_group(context, session, tabs)


async def _create(context: Context) -> CallResult:
    session = _shown(context)
    url = target(context.arguments)
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
    handler=_create,
    properties={"url": URL},
    needs_tab=False,
    address_of=target,
    same_as=("browser_open_tab",),
    toolsets=CLAUDE,
)

TOOLS = (TABS_CONTEXT, TABS_CREATE)
