"""Lists of things as a result: a line and an object for each, as far as maxTokens allows."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from tabhub.calls.results import done, fenced
from tabhub.errors import Forbidden, InvalidArguments
from tabhub.hub.sessions import AgentSession
from tabhub.hub.tabs import Tab
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult, text

CHARS_PER_TOKEN = 4
MAX_TOKENS: dict[str, Any] = {"type": "integer", "minimum": 50}


def chars(given: Mapping[str, Any], named: str, usual: int) -> int:
    """How many characters, by a parameter of the tool's own and by maxTokens."""
    limit: int = given.get(named, usual)
    return min(limit, in_tokens(given) or limit)


def in_tokens(given: Mapping[str, Any]) -> int | None:
    """How many characters maxTokens allows, if it was given."""
    tokens = given.get("maxTokens")
    return None if tokens is None else tokens * CHARS_PER_TOKEN


def fitting(lines: Iterable[str], given: Mapping[str, Any]) -> list[str]:
    """The first lines, as many as maxTokens allows; at least one."""
    room, kept = in_tokens(given), list[str]()
    for line in lines:
        room = None if room is None else room - len(line) - 1
        if kept and room is not None and room < 0:
            break
        kept.append(line)
    return kept


def listed_as_json(
    given: Mapping[str, Any], lines: Sequence[str], shape: Callable[[int], Json]
) -> CallResult:
    """For tools whose text others read as JSON; lines tell how many things there is room for."""
    kept = len(fitting(lines, given))
    left_out = {"leftOut": len(lines) - kept} if kept < len(lines) else {}
    data = {**shape(kept), **left_out}
    return done(msgspec.json.encode(data).decode(), data)


def listed(
    given: Mapping[str, Any],
    head: str,
    lines: Sequence[str],
    shape: Callable[[int], Json],
    *,
    from_page: bool = False,
) -> CallResult:
    """`shape` makes the data of the first so many things; what pages wrote is marked."""
    kept = fitting(lines, given)
    shown = [fenced("\n".join(kept))] if from_page and kept else kept
    left_out = len(lines) - len(kept)
    if not left_out:
        return done("\n".join([head, *shown]), shape(len(kept)))
    note = f"({left_out} more left out: give a larger maxTokens.)"
    return done("\n".join([head, *shown, note]), {**shape(len(kept)), "leftOut": left_out})


TITLE_CHARS = 80
URL_CHARS = 200
MOST_TABS = 20
BLANK = "about:blank"
Run = Callable[[Context], Awaitable[CallResult]]


def with_tabs(run: Run) -> Run:
    """The same, with a block about tabs at the end of each reply."""

    async def told(context: Context) -> CallResult:
        result = await run(context)
        return replace(result, content=[*result.content, text(_block(context, result))])

    return told


def group_tabs(context: Context, session: str) -> list[Tab]:
    """The tabs of a session's group."""
    found = (context.hub.tabs.find(id) for id in context.hub.ownership.of(session))
    return [tab for tab in found if tab is not None]


def line(tab: Tab) -> str:
    """A tab in one line. Its title is the page's own word, so it is quoted and cut."""
    title = _cut(" ".join(tab.title.split()), TITLE_CHARS)
    return f"- {tab.id}: {json.dumps(title, ensure_ascii=False)} {_cut(tab.url, URL_CHARS)}"


def _block(context: Context, result: CallResult) -> str:
    tabs = group_tabs(context, context.session)
    more = [f"({len(tabs) - MOST_TABS} more)"] if len(tabs) > MOST_TABS else []
    head = f"Tab Context: done in tab {_executed_on(context, result)}. Your tabs:"
    return "\n".join([head, *(line(context.as_told(tab)) for tab in tabs[:MOST_TABS]), *more])


def _executed_on(context: Context, result: CallResult) -> int:
    if context.call.tab is not None:
        return context.call.tab.id
    told: Any = result.structured_content
    opened: int = told["tabId"]
    return opened


def _cut(told: str, length: int) -> str:
    return told if len(told) <= length else f"{told[: length - 1]}…"


def is_own(context: Context, tab: Tab | None) -> bool:
    return tab is not None and context.hub.ownership.owner(tab.id) == context.session


def own_numbers(context: Context, browser: str | None = None) -> list[int]:
    """A browser's numbers of the caller's tabs, by which the browser itself looks again."""
    tabs = context.hub.tabs.of_browser(context.browser if browser is None else browser)
    return [tab.native_id for tab in tabs if is_own(context, tab)]


def movable_numbers(context: Context, browser: str) -> list[int]:
    """The same, and in the agents' own browser also tabs of nobody: windows open with a blank one.

    They keep nothing from being resized there, but are not the caller's to close.
    """
    owner, is_managed = context.hub.ownership.owner, context.browsers.is_managed(browser)
    tabs = context.hub.tabs.of_browser(browser)
    free = [tab.native_id for tab in tabs if is_managed and owner(tab.id) is None]
    return own_numbers(context, browser) + free


def required(context: Context, ids: Iterable[int]) -> list[int]:
    """The browser's numbers of tabs that must all be the caller's own, in the browser it means."""
    return [_required(context, id).native_id for id in ids]


def _required(context: Context, id: int) -> Tab:
    tab = context.hub.routes.tab(context.session, id)
    if not is_own(context, tab):
        raise Forbidden(f"Tab {id} is shared with you, but it is not yours.", "foreign_tab")
    if tab.browser != context.browser:
        raise InvalidArguments(f"Tab {id} is in another browser: give connectionId {tab.browser}.")
    return tab


def known(context: Context, numbers: Iterable[int]) -> list[Tab]:
    """The tabs that a browser names by its own numbers."""
    found = (context.hub.tabs.by_native(context.browser, number) for number in numbers)
    return [tab for tab in found if tab is not None]


def in_group(context: Context, session: AgentSession, tabs: list[Tab]) -> CallResult:
    """The tabs of a group."""
    tabs = [context.as_told(tab) for tab in tabs]
    lines = [line(tab) for tab in tabs]
    given = context.arguments
    return listed_as_json(given, lines, lambda count: _own_group_shown(session, tabs[:count]))


def _own_group_shown(session: AgentSession, tabs: list[Tab]) -> Json:
    shown: Json = {
        "availableTabs": [{"tabId": tab.id, "title": tab.title, "url": tab.url} for tab in tabs],
        "groupHandle": session.key,
    }
    if session.current is not None:
        shown["selectedTabId"] = session.current
    group = next((tab.group_id for tab in tabs if tab.group_id is not None), None)
    return shown if group is None else {**shown, "tabGroupId": group}
