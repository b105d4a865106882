"""What an action has changed, in its result: one read less for the agent.

It says only what a read by the same caller would be allowed to show, without a question.
"""

import asyncio
from contextlib import suppress
from itertools import count

from tabhub.browser.link.pending import Pending
from tabhub.calls.marks import fenced
from tabhub.errors import Forbidden, Refused, TabhubError
from tabhub.hub.tabs import Tab
from tabhub.permissions.sites import site_of
from tabhub.tools.reports import CHARS_PER_TOKEN
from tabhub.tools.tool import Context, Json

CHANGES_TOKENS = 300
PAGE_TOKENS = 1500
"""A page is shown at once if it is not larger."""
WHOLE_CHARS = 50_000
DEPTH = 15
READ_SECONDS = 8.0
"""The first read of a page waits until it is calm, and again if it is covered meanwhile."""
MOVES = 3
OBSERVE: Json = {"enum": ["changes", "none", "page"]}
_NO_CHANGES: Json = {"lines": "", "whole": True}
_MORE = "(More has changed: read the page.)"
_NO_ANSWER = "(The page did not answer: read it.)"
_CUT = "(Cut here: read the page for the rest.)"


def observing(context: Context) -> Json:
    """What tells an action's command to report changes, if the caller may read the page."""
    if _wanted(context) != "changes":
        return {}
    context.observed = context.reading(context.call, context.tab)
    if context.observed is None:
        return {}
    return {"observe": CHANGES_TOKENS * CHARS_PER_TOKEN}


def _wanted(context: Context) -> str:
    properties = context.call.tool.input_schema["properties"]
    default = "changes" if "observe" in properties else "none"
    wanted: str = context.arguments.get("observe", default)
    return wanted


def asked_changes(context: Context, effect: Json) -> Json:
    """The changes in an effect, if this call has asked for them and may read the page.

    The answer to a dialog ends the action of another call, which may have asked, or may read more.
    """
    is_asked = _wanted(context) == "changes" and context.observed is not None
    changes: Json = effect.get("changes", _NO_CHANGES) if is_asked else _NO_CHANGES
    return changes


def changes_text(changes: Json) -> str:
    """The changes that a command has reported, after the sentence about its effect."""
    lines = f"\n{fenced(changes['lines'])}" if changes["lines"] else ""
    return lines if changes["whole"] else f"{lines}\n{_MORE}"


def pending_text(changes: Json) -> str:
    """What the page still waits for."""
    count: int = changes.get("pending", 0)
    if not count:
        return ""
    return " 1 request pending." if count == 1 else f" {count} requests pending."


async def page_text(context: Context, effect: Json) -> str:
    """The page after an action that led to another one, or if the whole page was asked for."""
    wanted = _wanted(context)
    if wanted == "none" or "dialog" in effect:
        return ""
    if wanted == "changes" and "opened" in effect:
        return await _opened_page(context, effect["opened"])
    is_another = "navigated" in effect and "changes" not in effect
    if wanted == "changes" and not is_another:
        return ""
    tab = context.hub.tabs.find(context.tab.id)
    return "" if tab is None else await shown_page(context, tab)


async def _opened_page(context: Context, native_id: int) -> str:
    """What a tab that the page has opened shows, if the caller may use it."""
    tab = context.hub.tabs.by_native(context.tab.browser, native_id)
    if tab is None or not context.hub.ownership.may_use(context.session, tab):
        return ""
    shown = await shown_page(context, tab)
    return f"\nTab {tab.id} shows:{shown}" if shown else ""


async def shown_page(context: Context, tab: Tab) -> str:
    """A page as lines, whole if it was asked for or is small, otherwise its beginning or nothing.

    Empty if the caller may not read it; so if it does not answer, unless it was asked for.
    """
    wanted = _wanted(context)
    if wanted == "none" or context.reading(context.call, tab) is None:
        return ""
    chars = WHOLE_CHARS if wanted == "page" else PAGE_TOKENS * CHARS_PER_TOKEN
    with suppress(TabhubError, TimeoutError):
        async with asyncio.timeout(min(READ_SECONDS, context.call.seconds_left / 2)):
            output = await _read(context, tab, chars)
        if not output["truncated"]:
            return f"\n{fenced(output['text'])}" if output["text"] else ""
        if wanted == "page":
            return f"\n{fenced(output['text'])}\n{_CUT}"
        return f"\n(The page has more than {PAGE_TOKENS} tokens: read or find what you need.)"
    return f"\n{_NO_ANSWER}" if wanted == "page" else ""


async def _read(context: Context, tab: Tab, chars: int) -> Json:
    """Read a page; a tab that was blank a moment ago may have gone to a site meanwhile."""
    input: Json = {"filter": "all", "depth": DEPTH, "maxChars": chars}
    for tries in count(1):
        reading = context.reading(context.call, tab)
        if reading is None:
            break
        pending = Pending(site_of(tab.url), reading.may_enter)
        try:
            output: Json = await context.in_other_tab(tab, "page.read", input, pending)
            return output
        except Refused as refused:
            if refused.reason != "tab_url_mismatch" or tries == MOVES:
                raise
        tab = context.hub.tabs.get(tab.id)
    raise _walled()


def _walled() -> Forbidden:
    return Forbidden("The page that came is not to be read.", "permission_off")
