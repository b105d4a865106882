"""What a reply says beside its result: the tab it was done in, and the tabs of the caller."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from tabhub.hub.tabs import Tab
from tabhub.tools.tool import Context
from tabhub.wire.mcp.messages import CallResult, text

TITLE_CHARS = 80
URL_CHARS = 200
MOST_TABS = 20
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
