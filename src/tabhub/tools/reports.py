"""How results are written: counts and times, lists cut to maxTokens, and the tab context.

A result has a text for the model and data for programs; a list is cut to the same length in both.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from tabhub.calls.marks import fenced_lines
from tabhub.calls.results import done
from tabhub.hub.tabs import Tab
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult, text

CHARS_PER_TOKEN = 4
MAX_TOKENS: dict[str, Any] = {"type": "integer", "minimum": 50}
TITLE_CHARS = 80
URL_CHARS = 200
MAX_CONTEXT_TABS = 20

Handler = Callable[[Context], Awaitable[CallResult]]


def counted(count: int, thing: str) -> str:
    """A count with its noun: "1 tab", "2 entries"."""
    if count == 1:
        return f"1 {thing}"
    return f"{count} {thing[:-1]}ies" if thing.endswith("ry") else f"{count} {thing}s"


def timestamp(milliseconds: float) -> str:
    """A time in UTC, to the millisecond, in ISO 8601."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def char_limit(arguments: Mapping[str, Any], parameter: str, default: int) -> int:
    """How many characters are allowed, by a parameter of the tool's own and by maxTokens."""
    limit: int = arguments.get(parameter, default)
    return min(limit, token_chars(arguments) or limit)


def token_chars(arguments: Mapping[str, Any]) -> int | None:
    """How many characters maxTokens allows, if it was given."""
    tokens = arguments.get("maxTokens")
    return None if tokens is None else tokens * CHARS_PER_TOKEN


def fitting(lines: Iterable[str], arguments: Mapping[str, Any]) -> list[str]:
    """The first lines, as many as maxTokens allows; at least one."""
    room, kept = token_chars(arguments), list[str]()
    for line in lines:
        room = None if room is None else room - len(line) - 1
        if kept and room is not None and room < 0:
            break
        kept.append(line)
    return kept


def listed(
    arguments: Mapping[str, Any],
    head: str,
    lines: Sequence[str],
    data: Callable[[int], Json],
    *,
    from_page: bool = False,
) -> CallResult:
    """A list as a result, with a line for each item.

    `data` gives the data of the first so many items. Lines that pages wrote are fenced.
    """
    kept = fitting(lines, arguments)
    body = [fenced_lines(kept)] if from_page and kept else kept
    left_out = len(lines) - len(kept)
    if not left_out:
        return done("\n".join([head, *body]), data(len(kept)))
    note = f"({left_out} more left out: give a larger maxTokens.)"
    return done("\n".join([head, *body, note]), {**data(len(kept)), "leftOut": left_out})


def listed_as_json(
    arguments: Mapping[str, Any], lines: Sequence[str], data: Callable[[int], Json]
) -> CallResult:
    """The same for tools whose clients parse the text as JSON; lines only measure the items."""
    kept = len(fitting(lines, arguments))
    left_out = {"leftOut": len(lines) - kept} if kept < len(lines) else {}
    shortened = {**data(kept), **left_out}
    return done(msgspec.json.encode(shortened).decode(), shortened)


def counted_lines(thing: str, lines: Sequence[str], total: int) -> str:
    """The count of something, then the lines that there was room for, which pages wrote."""
    head = shown_count(thing, len(lines), total)
    return "\n".join([head, fenced_lines(lines)]) if lines else head


def shown_count(thing: str, shown: int, total: int) -> str:
    head = f"{counted(total, thing)}."
    return head if shown == total else f"{head} Here are {shown}; raise maxTokens for more."


def with_tabs(handler: Handler) -> Handler:
    """Wrap a handler so that a block about the session's tabs ends each result."""

    async def wrapped(context: Context) -> CallResult:
        result = await handler(context)
        return replace(result, content=[*result.content, text(_tab_context(context, result))])

    return wrapped


def group_tabs(context: Context, session: str) -> list[Tab]:
    """The tabs of a session's group."""
    tabs = (context.hub.tabs.find(id) for id in context.hub.ownership.of(session))
    return [tab for tab in tabs if tab is not None]


def tab_line(tab: Tab) -> str:
    """A tab in one line. The page chose its title, so it is quoted and cut."""
    title = _cut(" ".join(tab.title.split()), TITLE_CHARS)
    return f"- {tab.id}: {json.dumps(title, ensure_ascii=False)} {_cut(tab.url, URL_CHARS)}"


def _tab_context(context: Context, result: CallResult) -> str:
    tabs = group_tabs(context, context.session)
    lines = [tab_line(context.redacted(tab)) for tab in tabs[:MAX_CONTEXT_TABS]]
    more = len(tabs) - len(lines)
    head = f"Tab Context: done in tab {_executed_on(context, result)}. Your tabs:"
    body = [fenced_lines(lines)] if lines else []
    return "\n".join([head, *body, *([f"({more} more)"] if more else [])])


def _executed_on(context: Context, result: CallResult) -> int:
    if context.call.tab is not None:
        return context.call.tab.id
    data: Any = result.structured_content
    opened: int = data["tabId"]
    return opened


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
