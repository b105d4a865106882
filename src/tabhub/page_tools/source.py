"""The sources of page tools: one routes and runs them, one lists the tabs that have them.

A call is sent once, to one page; what the page may have received is never sent again.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET

from tabhub.calls.call import Call, Source
from tabhub.calls.marks import quoted
from tabhub.calls.ports import Undelivered
from tabhub.calls.time_limit import Limit, Progress
from tabhub.config.settings import Limits
from tabhub.errors import NotFound, TabhubError, TimedOut, Unavailable
from tabhub.hub.tabs import Tab
from tabhub.hub.texts import one_line
from tabhub.hub.tools import Tool
from tabhub.page_tools.core.listing import Entry
from tabhub.page_tools.core.page_hub import Choice, PageHub
from tabhub.page_tools.core.storage import Page, PageRef, TabKey
from tabhub.page_tools.extension_pages import Opener
from tabhub.page_tools.origins import domain_of, own_url
from tabhub.page_tools.page_results import result_of
from tabhub.page_tools.registrations import Pages
from tabhub.permissions.sites import site_of
from tabhub.wire.mcp.messages import CallResult, text
from tabhub.wire.pages import Execute, Outcome

log = logging.getLogger(__name__)
Key = TypeVar("Key")
Value = TypeVar("Value")

WAIT_SECONDS, PAUSE_SECONDS = 3.0, 1.0
"""How long a call waits for a page that cannot be reached yet, and how often it looks again."""
SETTLE_SECONDS = 1.0
"""How long a call waits for a new tab to publish its tools."""
MOST_KEPT = 1000
"""Entries kept of silent and of opened tabs."""
MOST_WORKER_TABS = 10_000
PATIENT_SECONDS = 300.0
"""The time limit of a tool that waits until a person has sent a form."""
GRACE_SECONDS = 0.5
"""How long an answer may still arrive after its page has gone."""
TAB, WARNING = "tabhub/tabId", "tabhub/warning"
TAB_LIST_SOURCE = "page-tabs"
LIST_TABS = Tool(
    name="list_browser_tabs",
    title="List tabs with tools",
    description="Tabs whose pages offer tools.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    source=TAB_LIST_SOURCE,
    annotations={"readOnlyHint": True},
    needs_tab=False,
    plugin="browser",
    toolsets=frozenset({"pages"}),
)


class PageRouter:
    """Finds the tab of a page tool's call."""

    def __init__(self, hub: PageHub, pages: Pages) -> None:
        self._hub = hub
        self._pages = pages
        self._numbers: dict[tuple[str, str], int] = {}
        """Numbers of tabs that only page workers reach, by domain and worker id."""
        self._silent: dict[int, None] = {}
        """Tabs that published nothing in time: calls do not wait for these again."""

    async def route(
        self, tool: Tool, session: str, requested: object, arguments: Mapping[str, Any]
    ) -> Tab | None:
        await self._wait_for_tools(tool, session, requested)
        tab, why = await self._choose(tool, session, requested)
        if why == "no_active":
            log.warning("%s: no tab is active; tab %s, updated last, is used", tool.name, tab)
        return None if tab is None else self._tab(tool.site, tab)

    async def _choose(self, tool: Tool, session: str, requested: object) -> Choice:
        """Choose a tab; after a restart of the server, wait until its page has registered."""
        clock = asyncio.get_running_loop().time
        end = clock() + WAIT_SECONDS
        while True:
            current = self._hub.sessions.current(session)
            choice = self._hub.page_routes.choose(tool.name, requested, current)
            if choice.tab is None or not self._is_restored(tool.site, choice.tab):
                return choice
            if clock() >= end:
                message = f"Tab {choice.tab} has not reconnected since the server was restarted."
                raise Unavailable(message, "adapter_not_ready")
            await self._pages.wait_for_change(end - clock())

    async def _wait_for_tools(self, tool: Tool, session: str, requested: object) -> None:
        """Give a tab of the tool's site that was just opened a moment to publish its tools."""
        tab = requested if requested is not None else self._hub.sessions.current(session)
        clock = asyncio.get_running_loop().time
        end = clock() + SETTLE_SECONDS
        while isinstance(tab, int) and self._may_publish(tool.site, tab):
            if clock() >= end:
                _put(self._silent, tab, None, MOST_KEPT)
                return
            await self._pages.wait_for_change(end - clock())

    def _may_publish(self, domain: str, id: int) -> bool:
        """Whether a tab that has not published anything may still publish tools of this domain."""
        if id in self._silent or self._hub.pages.storage.knows(id):
            return False
        tab = self._hub.tabs.find(id)
        return tab is not None and site_of(tab.url) == domain

    def _is_restored(self, domain: str, tab: TabKey) -> bool:
        return all(page.is_restored for page in self._hub.pages.storage.pages_of(domain, tab))

    def _tab(self, domain: str, key: TabKey) -> Tab | None:
        """The tab; if no browser has reported it, made from what its page says."""
        if isinstance(key, int):
            return self._hub.tabs.find(key) or Tab(key, "", key)
        page = _worker_page(self._hub, domain, key)
        url, title, origin = ("", "", "") if page is None else (page.url, page.title, page.origin)
        number = self._number(domain, key)
        return Tab(number, "", 0, url, title, worker_id=key, worker_origin=origin)

    def _number(self, domain: str, id: str) -> int:
        number = self._numbers.get((domain, id))
        if number is None:
            number = self._hub.tabs.mint()
            _put(self._numbers, (domain, id), number, MOST_WORKER_TABS)
        return number


def _worker_page(hub: PageHub, domain: str, key: str) -> Page | None:
    """The connected page of a tab that only a page worker reaches."""
    pages = hub.pages.storage.pages_of(domain, key)
    return next((page for page in pages if not page.is_restored), None)


class _Target(NamedTuple):
    """The tool and the page that a call goes to."""

    entry: Entry
    page: Page


class _SentCall:
    """A call that was sent to its page."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self.is_lost = False
        """Whether its page has gone."""

    def extend(self) -> bool:
        """Whether the call now goes on beyond its limit, for the first time."""
        return not self.is_lost and self._limit.extend()

    def lose(self) -> None:
        self.is_lost = True
        self._limit.reschedule(self._limit.loop.time() + GRACE_SECONDS)


class PageSource(Source):
    """Runs page tools."""

    quotes_pages = False
    """Each result names its words itself: here the page chooses the members."""

    def __init__(
        self, hub: PageHub, pages: Pages, opener: Opener, limits: Callable[[], Limits]
    ) -> None:
        self.router = PageRouter(hub, pages)
        self._hub = hub
        self._pages = pages
        self._opener = opener
        self._limits = limits
        self._sent: dict[PageRef, set[_SentCall]] = {}
        self._opened: dict[tuple[str, str, str], int] = {}
        """The tab that was last opened for a tool, by session, domain and tool."""
        pages.on_gone(self._page_gone)

    def opens_in(self, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
        return self._opener.browser_for(tool)

    async def ready(self, call: Call) -> None:
        await self._opener.ready(call.tool)

    def browser_of(self, tool: Tool, session: str) -> str | None:
        """The browser of the tab that has the tool; empty if no browser has reported that tab."""
        current = self._hub.sessions.current(session)
        tab = self._hub.page_routes.choose(tool.name, None, current).tab
        if tab is None:
            return self.opens_in(tool, {})
        found = self._hub.tabs.find(tab) if isinstance(tab, int) else None
        return "" if found is None else found.browser

    def worker_of(self, tool: Tool, session: str) -> str:
        current = self._hub.sessions.current(session)
        tab = self._hub.page_routes.choose(tool.name, None, current).tab
        page = _worker_page(self._hub, tool.site, tab) if isinstance(tab, str) else None
        return "" if page is None else page.origin

    async def run(self, call: Call) -> CallResult:
        tab = call.tab or await self._open(call)
        key = tab.key
        outcome, page = await self._send_when_ready(call, key)
        untrusted = page.is_guest or call.tool.annotations.get("untrustedContentHint") is True
        result = result_of(outcome, self._limits().result_bytes, untrusted=untrusted)
        self._set_current_tab(call, tab)
        meta = result.meta if isinstance(result.meta, dict) else {}
        result.meta = {**meta, TAB: key, **self._warning(call, key)}
        return result

    async def _open(self, call: Call) -> Tab:
        """Open a tab for a tool that no tab has, at the address where it was published last."""
        entry = self._entry(call)
        place = None if entry is None else self._hub.pages.place(entry)
        if entry is None or place is None:
            raise NotFound(f"No tab has {call.tool.name} any more.", "no_tab_for_tool")
        key = (call.session, entry.domain, entry.tool.name)
        known = self._hub.tabs.find(self._opened.get(key, 0))
        if known is not None and self._hub.ownership.may_use(call.session, known):
            # The page may have asked for a login first: one such tab is enough.
            self._opener.require(known.browser)
            return known
        if domain_of(place.origin) != entry.domain:
            raise NotFound(f"The address of {call.tool.name} is unknown.", "no_tab_for_tool")
        tab = await self._opener.open(call, own_url(place.url, place.origin))
        _put(self._opened, key, tab.id, MOST_KEPT)
        return tab

    async def _send_when_ready(self, call: Call, key: TabKey) -> tuple[Outcome, Page]:
        """Wait for a limited time until the page can be reached; then send once."""
        clock = asyncio.get_running_loop().time
        end = clock() + WAIT_SECONDS
        error: TabhubError = NotFound(_missing(call, key), "no_tab_for_tool")
        has_told = False
        while True:
            target = self._target(call, key)
            if target is not None:
                try:
                    return await self._send(call, target), target.page
                except TabhubError as refused:
                    if refused.effect != "none":
                        raise
                    error = refused
            if clock() >= end or self._is_hopeless(call, key, error):
                # Opening a tab for the call was an effect.
                raise Undelivered(error if call.tab is not None else error.with_effect("done"))
            if not has_told:
                has_told = True
                await call.tell(
                    "info",
                    "retry",
                    f"Tab {key} is not ready for {call.name}; it is sent as soon as it is.",
                    tabId=key,
                )
            await self._pages.wait_for_change(min(end - clock(), PAUSE_SECONDS))

    def _entry(self, call: Call, key: TabKey | None = None) -> Entry | None:
        """The entry of the authorized tool; an error if its name now means another tool."""
        entry = self._hub.pages.find(call.tool.name)
        if entry is None and key is not None:
            # In per-tab mode, a remembered tool loses its name as soon as a tab has it.
            entry = self._hub.pages.in_tab(call.tool, key)
        if entry is not None and not entry.is_still(call.tool):
            raise NotFound(
                f"{call.tool.name} has changed since it was called, so nothing was sent. Look at "
                "its new definition, and call it again if it still fits.",
                "no_tab_for_tool",
                effect="done" if key is not None and call.tab is None else None,
            )
        return entry

    def _target(self, call: Call, key: TabKey) -> _Target | None:
        """The page to call: of those in the tab that have the tool, the one updated last."""
        entry = self._entry(call, key)
        refs = () if entry is None else entry.tabs.get(key, ())
        page = self._hub.pages.storage.find(refs[-1]) if refs else None
        if entry is None or page is None or not _is_authorized(call, page):
            return None
        return _Target(entry, page)

    def _is_hopeless(self, call: Call, key: TabKey, error: TabhubError) -> bool:
        """Whether it is useless to wait for this tab: it has closed, or another has the tool."""
        if isinstance(key, int) and call.tab is not None and self._hub.tabs.find(key) is None:
            return error.reason != "extension_disconnected"
        entry = self._hub.pages.find(call.tool.name)
        return entry is not None and bool(entry.tabs) and key not in entry.tabs

    async def _send(self, call: Call, target: _Target) -> Outcome:
        entry, page = target
        transport = self._pages.transport(page.ref)
        if transport is None:
            raise Unavailable(f"The page in tab {page.tab} is not connected.", "adapter_not_ready")
        seconds = PATIENT_SECONDS if entry.tool.patient else self._limits().page_call_seconds
        most = max(seconds, self._limits().max_call_seconds)
        request = Execute(
            tool_name=entry.tool.name,
            timeout_ms=round(most * 1000),
            args=dict(call.arguments),
            kind=page.kind or UNSET,
            extensions=page.extensions or UNSET,
        )
        sent: _SentCall | None = None
        try:
            with Limit(seconds, most) as limit:
                sent = _SentCall(limit)
                self._sent.setdefault(page.ref, set()).add(sent)
                progress = _extending(sent, limit, call)
                return await transport.send_request(page.ref, request, progress)
        except TimeoutError:
            raise _timed_out(call.tool.name, seconds, sent) from None
        finally:
            self._ended(page.ref, sent)

    def _ended(self, ref: PageRef, sent: _SentCall | None) -> None:
        calls = self._sent.get(ref)
        if calls is not None and sent is not None:
            calls.discard(sent)
            if not calls:
                del self._sent[ref]

    def _page_gone(self, ref: PageRef) -> None:
        for sent in self._sent.get(ref, ()):
            sent.lose()

    def _set_current_tab(self, call: Call, tab: Tab) -> None:
        """Make the tab the session's current one, if the session's other tools can use it."""
        known = self._hub.tabs.find(tab.id) if tab.browser else None
        if known is not None and self._hub.ownership.may_use(call.session, known):
            self._hub.sessions.use(call.session, known.id)

    def _warning(self, call: Call, key: TabKey) -> dict[str, str]:
        entry = self._hub.pages.find(call.tool.name)
        if entry is None or len(entry.tabs) < 2 or self._hub.pages.in_front(entry.domain):
            return {}
        if call.tab is None or self._hub.sessions.current(call.session) == key:
            return {}
        return {WARNING: f"No tab is active; tab {key} was used."}


def _put(kept: dict[Key, Value], key: Key, value: Value, most: int) -> None:
    """Add a value; drop the oldest if there are too many."""
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]


def _extending(sent: _SentCall, limit: Limit, call: Call) -> Progress:
    async def progress(done: float, total: float | None, message: str | None) -> None:
        if sent.extend():
            await call.tell_extended(limit)
        await call.report(done, total, None if message is None else quoted(one_line(message)))

    return progress


def _is_authorized(call: Call, page: Page) -> bool:
    """Whether this is the page of the decision: http and https share a site, but no pairing."""
    return call.tab is None or call.tab.worker_origin in ("", page.origin)


def _missing(call: Call, key: TabKey) -> str:
    if call.tab is not None:
        return f"Tab {key} has no {call.tool.name}."
    return (
        f"Tab {key} was opened for {call.tool.name}, but its page does not publish it. Look at the "
        "page: it may ask for a login."
    )


def _timed_out(name: str, seconds: float, sent: _SentCall | None) -> TabhubError:
    if sent is not None and sent.is_lost:
        return Unavailable(
            f"The page went away while {name} ran. It may have received the call: look at the page "
            "before you try again.",
            "page_may_have_received",
        )
    return TimedOut(
        f"{name} gave no answer for {seconds:g} seconds and was cancelled. The page may have "
        "received it: look at the page before you try again."
    )


class TabListSource(Source):
    """Runs `list_browser_tabs`, from what the hub knows."""

    def __init__(self, hub: PageHub) -> None:
        self._hub = hub

    async def run(self, call: Call) -> CallResult:
        pages = [page for page in self._hub.pages.storage.all() if not page.is_restored]
        may_tell = call.may_tell
        if may_tell is not None:
            pages = [page for page in pages if may_tell(page.domain)]
        tabs: dict[tuple[TabKey, str], list[Page]] = {}
        for page in pages:
            # Worker ids are unique within a domain only.
            domain = page.domain if isinstance(page.tab, str) else ""
            tabs.setdefault((page.tab, domain), []).append(page)
        active = {page.ref for page in self._hub.pages.active_pages()}
        rows = [self._row(tab, found, active) for (tab, _), found in tabs.items()]
        rows = [row for row in rows if may_tell is None or may_tell(site_of(row["url"]))]
        return CallResult(
            content=[text(msgspec.json.encode(rows).decode())], structured_content=rows
        )

    def _row(self, tab: TabKey, pages: list[Page], active: set[PageRef]) -> dict[str, Any]:
        main = min(pages, key=lambda page: page.ref.frame)
        known = self._hub.tabs.find(tab) if isinstance(tab, int) else None
        is_shown = any(tab in self._hub.pages.in_front(page.domain) for page in pages)
        seen = time.time() if is_shown else max(page.seen for page in pages)
        return {
            "tabId": tab,
            "url": main.url if known is None else known.url,
            "title": main.title if known is None else known.title,
            "isActive": any(page.ref in active for page in pages),
            "lastSeen": _iso(seen),
        }


def _iso(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
