"""The caller's own tab group, in the words of the claude-browser vocabulary."""

import secrets
import time
from collections.abc import Mapping
from typing import Any

from tabhub.calls.results import done
from tabhub.hub.sessions import HANDLE, AgentSession
from tabhub.hub.tabs import Tab
from tabhub.tools.budget import MAX_TOKENS
from tabhub.tools.caller_tabs import group_tabs, line
from tabhub.tools.reports import listed_as_json
from tabhub.tools.tabs.tabs import open_tab
from tabhub.tools.tool import CLAUDE, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

BLANK = "about:blank"


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


def in_group(context: Context, session: AgentSession, tabs: list[Tab]) -> CallResult:
    """The tabs of a group."""
    tabs = [context.as_told(tab) for tab in tabs]
    lines = [line(tab) for tab in tabs]
    given = context.arguments
    return listed_as_json(given, lines, lambda count: _shown(session, tabs[:count]))


def _shown(session: AgentSession, tabs: list[Tab]) -> Json:
    shown: Json = {
        "availableTabs": [{"tabId": tab.id, "title": tab.title, "url": tab.url} for tab in tabs],
        "groupHandle": session.key,
    }
    if session.current is not None:
        shown["selectedTabId"] = session.current
    group = next((tab.group_id for tab in tabs if tab.group_id is not None), None)
    return shown if group is None else {**shown, "tabGroupId": group}


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

TOOLS = (TABS_CONTEXT_MCP,)
