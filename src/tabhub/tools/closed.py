"""Tabs and windows that were closed, and bringing them back.

In the agents' own browser an agent brings back what it has closed itself; in a person's own
browser anything, after that person has been asked.
"""

import msgspec

from tabhub.browser.link.browsers import CLOSE
from tabhub.calls.results import done
from tabhub.errors import Forbidden, NotFound
from tabhub.hub.tabs import Tab
from tabhub.tools.budget import MAX_TOKENS, fitting
from tabhub.tools.data.browsing_data import iso, listed
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, browser_tool
from tabhub.wire.link import TabState
from tabhub.wire.mcp.messages import CallResult

MOST = 25


async def _recent(context: Context) -> CallResult:
    given = context.arguments
    found = await _closed(context, given.get("maxResults", MOST))
    told = [_shown(context, session) for session in found if _may_tell(context, session)]
    lines = fitting(map(_line, told), given)
    shown: Json = {"sessions": told[: len(lines)], "total": len(told)}
    return done(listed("closed tab or window", lines, len(told)), shown)


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
    return done(listed("tab", lines, len(lines)), {**told[0], "tabs": told})


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


def _shown(context: Context, session: Json) -> Json:
    mine = _is_own(context, session)
    usable = mine or not context.browsers.is_managed(context.browser)
    return {**session, "closedAt": iso(session["closedAt"]), "usable": usable}


def _line(session: Json) -> str:
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

TOOLS = (GET_RECENTLY_CLOSED, RESTORE_SESSION)
