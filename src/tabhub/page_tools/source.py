"""Runs page tools: once, in one page. What the page may have received is never sent again."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from tabhub.calls.call import Call, Source
from tabhub.calls.ports import Undelivered
from tabhub.calls.time_limit import Limit, Progress
from tabhub.config.settings import Limits
from tabhub.errors import NotFound, TabhubError, TimedOut, Unavailable
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.page_tools.core.listing import SOURCE, Entry
from tabhub.page_tools.core.page_hub import Choice, PageHub
from tabhub.page_tools.core.schema import one_line
from tabhub.page_tools.core.storage import Page, PageRef, TabKey
from tabhub.page_tools.extension_pages import Opener
from tabhub.page_tools.page_results import result_of
from tabhub.page_tools.pairing import domain_of, own_url
from tabhub.page_tools.registrations import Pages
from tabhub.permissions.sites import site_of
from tabhub.wire.mcp.messages import CallResult, text
from tabhub.wire.pages import Execute, Outcome

__all__ = ["SOURCE", "PageRouter", "PageSource"]
log = logging.getLogger(__name__)

BEFORE_SENDING = frozenset({"tab_not_found", "navigated_away"})
"""From a transport these say that the page has not received the call: had it, the reason would be
page_may_have_received. In the browser's own commands they can come after an effect."""
WAIT_SECONDS, PAUSE_SECONDS = 3.0, 1.0
"""How long a page is waited for that cannot be reached yet, and how long without a look."""
SETTLE_SECONDS = 1.0
"""How long a page has after it was opened."""
MOST_OPENED = 1000
PATIENT_SECONDS = 300.0
"""A form that a person has to send."""
GRACE_SECONDS = 0.5
"""How long an answer may still come when its page has gone."""
TAB, WARNING = "tabhub/tabId", "tabhub/warning"


class PageRouter:
    """Finds the tab of a page tool's call."""

    def __init__(self, hub: PageHub, pages: Pages) -> None:
        self._hub = hub
        self._pages = pages
        self._workers: dict[tuple[str, str], int] = {}
        self._silent: dict[int, None] = {}
        """Tabs that have told nothing in the time they had: nobody waits for these again."""

    async def route(self, tool: Tool, session: str, wanted: object) -> Tab | None:
        tab, why = await self._back(tool, session, wanted)
        if why == "no_active":
            log.warning("%s: no tab is active; tab %s, updated last, is used", tool.name, tab)
        return None if tab is None else self._tab(tool.site, tab)

    async def _back(self, tool: Tool, session: str, wanted: object) -> Choice:
        """The tab; whose it is must be known first, also after a restart of the server."""
        await self._published(tool, session, wanted)
        clock = asyncio.get_running_loop().time
        end = clock() + WAIT_SECONDS
        while True:
            current = self._hub.sessions.current(session)
            choice = self._hub.page_routes.choose(tool.name, wanted, current)
            if choice.tab is None or not self._is_awaited(tool.site, choice.tab):
                return choice
            if clock() >= end:
                message = f"Tab {choice.tab} has not come back since the server was started anew."
                raise Unavailable(message, "adapter_not_ready")
            await self._pages.news(end - clock())

    async def _published(self, tool: Tool, session: str, wanted: object) -> None:
        """A tab of the tool's site that was just opened is given a moment to tell its tools."""
        meant = wanted if wanted is not None else self._hub.sessions.current(session)
        clock = asyncio.get_running_loop().time
        end = clock() + SETTLE_SECONDS
        while isinstance(meant, int) and self._is_silent(tool.site, meant):
            if clock() >= end:
                self._silent[meant] = None
                if len(self._silent) > MOST_OPENED:
                    del self._silent[next(iter(self._silent))]
                return
            await self._pages.news(end - clock())

    def _is_silent(self, domain: str, id: int) -> bool:
        """Whether nothing was heard yet of a tab that may have tools of this domain."""
        if id in self._silent or self._hub.pages.storage.knows(id):
            return False
        tab = self._hub.tabs.find(id)
        return tab is not None and site_of(tab.url) == domain

    def _is_awaited(self, domain: str, tab: TabKey) -> bool:
        return all(page.is_restored for page in self._hub.pages.storage.here(domain, tab))

    def _tab(self, domain: str, key: TabKey) -> Tab | None:
        """The tab; of one that no browser has told of, what its page says."""
        if isinstance(key, int):
            return self._hub.tabs.find(key) or Tab(key, "", key)
        page = next(self._hub.pages.storage.here(domain, key), None)
        url, title = ("", "") if page is None else (page.url, page.title)
        return Tab(self._number(domain, key), "", 0, url, title, worker_id=key)

    def _number(self, domain: str, id: str) -> int:
        known = self._workers.get((domain, id))
        if known is None:
            known = self._workers[domain, id] = self._hub.tabs.mint()
            if len(self._workers) > 10_000:
                del self._workers[next(iter(self._workers))]
        return known


class _Aim(NamedTuple):
    """Where a call goes."""

    entry: Entry
    page: Page


class _Running:
    """A call that its page has been sent."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self.is_lost = False

    def extend(self) -> None:
        if not self.is_lost:
            self._limit.extend()

    def lose(self) -> None:
        self.is_lost = True
        self._limit.reschedule(self._limit.loop.time() + GRACE_SECONDS)


class PageSource(Source):
    """The `Source` of page tools."""

    def __init__(
        self, hub: PageHub, pages: Pages, opener: Opener, limits: Callable[[], Limits]
    ) -> None:
        self.router = PageRouter(hub, pages)
        self._hub = hub
        self._pages = pages
        self._opener = opener
        self._limits = limits
        self._running: dict[PageRef, set[_Running]] = {}
        self._made: dict[tuple[str, str, str], int] = {}
        """The tab that was opened last for a session's call of a tool."""
        pages.on_gone(self._page_gone)

    def opens_in(self, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
        return self._opener.browser_for(tool)

    def browser_of(self, tool: Tool, session: str) -> str | None:
        """That of the tab which has the tool; of a page that no browser has told of, nobody's."""
        current = self._hub.sessions.current(session)
        tab = self._hub.page_routes.choose(tool.name, None, current).tab
        if tab is None:
            return self.opens_in(tool, {})
        found = self._hub.tabs.find(tab) if isinstance(tab, int) else None
        return "" if found is None else found.browser

    async def run(self, call: Call) -> CallResult:
        tab = call.tab or await self._opened(call)
        key = tab.key
        outcome = await self._tried(call, key)
        strange = call.tool.annotations.get("untrustedContentHint") is True
        result = result_of(outcome, self._limits().result_bytes, strange=strange)
        self._used(call, tab)
        known = result.meta if isinstance(result.meta, dict) else {}
        result.meta = {**known, TAB: key, **self._warning(call, key)}
        return result

    async def _opened(self, call: Call) -> Tab:
        """A tab for a tool that none has: where it was published last."""
        entry = self._entry(call)
        place = None if entry is None else self._hub.pages.place(entry)
        if entry is None or place is None:
            raise NotFound(f"No tab has {call.tool.name} any more.", "no_tab_for_tool")
        key = (call.session, entry.domain, entry.tool.name)
        known = self._hub.tabs.find(self._made.get(key, 0))
        if known is not None and self._hub.ownership.may_use(call.session, known):
            # The page may have asked for a login first: one such tab is enough.
            return known
        if domain_of(place.origin) != entry.domain:
            raise NotFound(f"Nobody knows where {call.tool.name} is.", "no_tab_for_tool")
        tab = await self._opener.open(call, own_url(place.url, place.origin))
        self._made[key] = tab.id
        if len(self._made) > MOST_OPENED:
            del self._made[next(iter(self._made))]
        return tab

    async def _tried(self, call: Call, key: TabKey) -> Outcome:
        """Wait, bounded, until the page can be reached; then send, once."""
        clock = asyncio.get_running_loop().time
        end = clock() + WAIT_SECONDS
        error: TabhubError = NotFound(_without(call, key), "no_tab_for_tool")
        while True:
            aim = self._aim(call, key)
            if aim is not None:
                try:
                    return await self._sent(call, aim)
                except TabhubError as refused:
                    if refused.effect != "none":
                        raise
                    error = refused
            if clock() >= end or self._is_hopeless(call, key, error):
                # A tab that was opened for the call is an effect.
                raise Undelivered(error if call.tab is not None else error.with_effect("done"))
            await self._pages.news(min(end - clock(), PAUSE_SECONDS))

    def _entry(self, call: Call, key: TabKey | None = None) -> Entry | None:
        """The tool that was decided about, and nothing that has got its name since."""
        entry = self._hub.pages.find(call.tool.name)
        if entry is None and key is not None:
            # Tab by tab, the name of a kept tool ends as soon as a tab has it.
            entry = self._hub.pages.in_tab(call.tool, key)
        if entry is not None and not entry.is_still(call.tool):
            raise NotFound(
                f"{call.tool.name} has changed since it was called: nothing was sent. Look at what "
                "it is now, and call it again if you still want to.",
                "no_tab_for_tool",
                effect="done" if key is not None and call.tab is None else None,
            )
        return entry

    def _aim(self, call: Call, key: TabKey) -> _Aim | None:
        """The page to ask: of those in the tab that have the tool, the one updated last."""
        entry = self._entry(call, key)
        refs = () if entry is None else entry.tabs.get(key, ())
        page = self._hub.pages.storage.find(refs[-1]) if refs else None
        return None if entry is None or page is None else _Aim(entry, page)

    def _is_hopeless(self, call: Call, key: TabKey, error: TabhubError) -> bool:
        """Whether waiting for this tab is of no use: it has gone, or another has the tool."""
        if isinstance(key, int) and call.tab is not None and self._hub.tabs.find(key) is None:
            return error.reason != "extension_disconnected"
        entry = self._hub.pages.find(call.tool.name)
        return entry is not None and bool(entry.tabs) and key not in entry.tabs

    async def _sent(self, call: Call, aim: _Aim) -> Outcome:
        entry, page = aim
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
        running: _Running | None = None
        try:
            with Limit(seconds, most) as limit:
                running = _Running(limit)
                self._running.setdefault(page.ref, set()).add(running)
                progress = _extending(running, call.report)
                return await transport.send_request(page.ref, request, progress)
        except TimeoutError:
            raise _late(call.tool.name, seconds, running) from None
        except TabhubError as error:
            if error.reason in BEFORE_SENDING:
                raise error.with_effect("none") from None
            raise
        finally:
            self._ended(page.ref, running)

    def _ended(self, ref: PageRef, running: _Running | None) -> None:
        there = self._running.get(ref)
        if there is not None and running is not None:
            there.discard(running)
            if not there:
                del self._running[ref]

    def _page_gone(self, ref: PageRef) -> None:
        for running in self._running.get(ref, ()):
            running.lose()

    def _used(self, call: Call, tab: Tab) -> None:
        """The session's current tab is the one it last acted on, if its other tools reach it."""
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


def _extending(running: _Running, told: Progress) -> Progress:
    async def progress(done: float, total: float | None, message: str | None) -> None:
        running.extend()
        await told(done, total, None if message is None else one_line(message))

    return progress


def _without(call: Call, key: TabKey) -> str:
    if call.tab is not None:
        return f"Tab {key} has no {call.tool.name}."
    return (
        f"Tab {key} was opened for {call.tool.name}, but its page does not publish it. Look at the "
        "page: it may ask for a login."
    )


def _late(name: str, seconds: float, running: _Running | None) -> TabhubError:
    if running is not None and running.is_lost:
        return Unavailable(
            f"The page went away while {name} ran. It may have received the call: look before you "
            "try again.",
            "page_may_have_received",
        )
    return TimedOut(
        f"{name} gave no answer for {seconds:g} seconds and was cancelled. The page may have "
        "received it: look at the page before you try again."
    )


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


class TabListSource(Source):
    """Looks at what the hub knows."""

    def __init__(self, hub: PageHub) -> None:
        self._hub = hub

    async def run(self, call: Call) -> CallResult:
        pages = [page for page in self._hub.pages.storage.all() if not page.is_restored]
        may_tell = call.may_tell
        if may_tell is not None:
            pages = [page for page in pages if may_tell(page.domain)]
        tabs: dict[tuple[TabKey, str], list[Page]] = {}
        for page in pages:
            owner = page.domain if isinstance(page.tab, str) else ""
            tabs.setdefault((page.tab, owner), []).append(page)
        told = [self._told(tab, found) for (tab, _), found in tabs.items()]
        told = [one for one in told if may_tell is None or may_tell(site_of(one["url"]))]
        return CallResult(
            content=[text(msgspec.json.encode(told).decode())], structured_content=told
        )

    def _told(self, tab: TabKey, pages: list[Page]) -> dict[str, Any]:
        shown = min(pages, key=lambda page: page.ref.frame)
        known = self._hub.tabs.find(tab) if isinstance(tab, int) else None
        is_active = any(tab in self._hub.pages.in_front(page.domain) for page in pages)
        seen = time.time() if is_active else max(page.seen for page in pages)
        return {
            "tabId": tab,
            "url": shown.url if known is None else known.url,
            "title": shown.title if known is None else known.title,
            "isActive": is_active,
            "lastSeen": _iso(seen),
        }


def _iso(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
