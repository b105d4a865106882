"""Where registrations come in, from either transport. A page is hostile: all of it is bounded."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from tabhub.calls.ports import AuditSink, incident
from tabhub.calls.time_limit import Progress
from tabhub.config.settings import Settings
from tabhub.hub.tabs import MINTED_FROM
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.page_tools.core.storage import Page, PageRef, Remembered, TabKey
from tabhub.page_tools.flood_limits import Allowance, Complaints, Throttle
from tabhub.page_tools.intake import Admission, Registration
from tabhub.page_tools.pairing import LONGEST_URL, domain_of, is_allowed
from tabhub.wire.pages import Execute, Outcome

__all__ = ["Execute", "Outcome", "PageRef", "PageTransport"]


class PageTransport(Protocol):
    """Carries calls to pages. What comes from them goes to `Pages`."""

    async def send_request(self, page: PageRef, message: Execute, progress: Progress) -> Outcome:
        """Send once. What `PageSource` reads in an error: whether the page may have received it."""


GONE_SECONDS = 60.0
"""How long pages stay whose way has gone, in case it comes back."""
BACK_SECONDS = 5.0
"""How long pages have to register anew then."""

Late = Callable[[str, set[PageRef]], None]
"""Takes a way, and the pages that have not come back by it."""


class Timer(Protocol):
    def cancel(self) -> None: ...


Later = Callable[[float, Callable[[], None]], Timer]


@dataclass
class _Way:
    """Open while there is a transport. `awaited` are pages from before it went, until the timer."""

    transport: PageTransport | None = None
    awaited: set[PageRef] = field(default_factory=set)
    timer: Timer | None = None


class Ways:
    """open → gone → back → open; each step has one timer, and only the last one counts."""

    def __init__(self, late: Late, later: Later) -> None:
        self._late = late
        self._later = later
        self._ways: dict[str, _Way] = {}

    def find(self, name: str) -> PageTransport | None:
        way = self._ways.get(name)
        return None if way is None else way.transport

    def opened(self, name: str, transport: PageTransport) -> None:
        """A way whose pages go with it."""
        self._ways[name] = _Way(transport)

    def closed(self, name: str) -> bool:
        """It will not come back; whether it was there."""
        return self._ways.pop(name, None) is not None

    def gone(self, name: str, pages: set[PageRef]) -> None:
        """It may come back: until then nobody reaches its pages, but they stay."""
        way = self._ways.get(name)
        if way is not None and way.transport is not None:
            way.transport = None
            way.awaited |= pages
            self._wait(name, way, GONE_SECONDS)

    def back(self, name: str, transport: PageTransport, pages: set[PageRef]) -> None:
        """It is there again, or for the first time; these have been here before."""
        way = self._ways.setdefault(name, _Way())
        way.transport = transport
        way.awaited |= pages
        self._wait(name, way, BACK_SECONDS)

    def came(self, page: PageRef) -> None:
        """A page has registered anew."""
        way = self._ways.get(page.transport)
        if way is not None:
            way.awaited.discard(page)

    def _wait(self, name: str, way: _Way, seconds: float) -> None:
        if way.timer is not None:
            way.timer.cancel()
        way.timer = self._later(seconds, lambda: self._end(name, way))

    def _end(self, name: str, way: _Way) -> None:
        late, way.awaited, way.timer = way.awaited, set(), None
        if way.transport is None:
            self._ways.pop(name, None)
        self._late(name, late)


def later(seconds: float, work: Callable[[], None]) -> Timer:
    return asyncio.get_running_loop().call_later(seconds, work)


TABS_PER_DOMAIN = 1000


class Pages:
    """Takes what pages publish to the hub, and knows the way back to them."""

    def __init__(
        self,
        hub: PageHub,
        settings: Callable[[], Settings],
        audit: AuditSink,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hub = hub.pages
        self._tabs = hub.tabs
        self._settings = settings
        self._audit = audit
        self._ways = Ways(self._late, later)
        self._complaints = Complaints(clock)
        self._allowance = Allowance(clock)
        self._admission = Admission(self._hub.storage, settings, self._complaints)
        self._throttle: Throttle[Registration] = Throttle(self._take, clock, later)
        self._news = asyncio.Event()
        self._listeners: list[Callable[[PageRef], None]] = []
        hub.tabs.on_change(self._tab_changed)

    def connect(self, name: str, transport: PageTransport) -> None:
        """A way to pages is there; `PageRef.transport` names it."""
        self._ways.opened(name, transport)

    def disconnect(self, name: str) -> None:
        """It has gone, and so have its pages."""
        if self._ways.closed(name):
            self._gone([page for page in self._hub.storage.all() if page.ref.transport == name])

    def suspend(self, name: str) -> None:
        """It has gone but may come back: its pages stay for a while, though nobody reaches them."""
        self._hub.away.add(name)
        self._ways.gone(name, self._by_way(name))

    def resume(self, name: str, transport: PageTransport) -> None:
        """It is back; pages that do not register anew have gone meanwhile."""
        self._hub.away.discard(name)
        self._ways.back(name, transport, self._by_way(name))

    def only_in(self, name: str, numbers: set[int]) -> None:
        """A browser has said which tabs it has: what was in others before a restart is gone."""

        def is_lost(page: Page) -> bool:
            tab = page.ref.tab
            # A number that we made up says nothing: it may be another by now.
            is_told = isinstance(tab, int) and tab < MINTED_FROM
            return is_told and page.ref.document == name and tab not in numbers

        self._hub.restored(is_lost)
        self._wake()

    def _by_way(self, name: str) -> set[PageRef]:
        return {page.ref for page in self._hub.storage.all() if page.ref.transport == name}

    def _late(self, name: str, refs: set[PageRef]) -> None:
        storage = self._hub.storage
        self._gone([page for ref in refs if (page := storage.find(ref)) is not None])
        self._hub.away.discard(name)
        self._hub.restored(lambda page: page.ref.document == name)

    def transport(self, page: PageRef) -> PageTransport | None:
        return self._ways.find(page.transport)

    def on_gone(self, listener: Callable[[PageRef], None]) -> None:
        self._listeners.append(listener)

    async def news(self, seconds: float) -> None:
        """Wait until any page has come or changed, but not for longer."""
        news = self._news
        try:
            async with asyncio.timeout(seconds):
                await news.wait()
        except TimeoutError:
            return

    def register(self, told: Registration) -> None:
        """All that a page publishes, and where it is by the browser's word."""
        self._put(told)

    def _put(self, told: Registration) -> None:
        if not self._throttle.put(_tab(told.page), told.page, told):
            domain = domain_of(told.origin) or "a page"
            self._complaints.say(domain, "tells its tools too often; only the latest list counts")

    def update(
        self, page: PageRef, tools: list[Raw], extensions: dict[str, Any] | None = None
    ) -> None:
        """The page's new list, as a whole; an empty one clears."""
        told = self._throttle.waiting(_tab(page), page) or self._admission.known(page)
        if told is None:
            self._complaints.say(page.transport, "an update of a page that has not registered")
            return
        fresh = told.extensions if extensions is None else extensions
        self._put(msgspec.structs.replace(told, tools=tools, extensions=fresh))

    def gone(self, page: PageRef) -> None:
        """The page is no more there."""
        self._throttle.drop(_tab(page), page)
        known = self._hub.storage.find(page)
        if known is not None:
            self._gone([known])

    def activated(self, tab: TabKey | None) -> None:
        """The person looks at this tab; None: at none of those that are known."""
        self._seen([] if self._hub.active is None else [self._hub.active])
        self._hub.activated(tab)

    def looked_at(self, tab: str, origin: str) -> None:
        """A page says that the person looks at this tab of its."""
        domain = domain_of(origin) or ""
        self._seen(self._hub.in_front(domain))
        self._hub.looked_at(domain, (origin, tab))

    def hidden(self, tab: str, origin: str) -> None:
        """The person looks at this tab no more; at which one instead, others say."""
        domain = domain_of(origin) or ""
        self._seen(self._hub.in_front(domain))
        self._hub.hidden(domain, (origin, tab))

    def _seen(self, tabs: list[TabKey]) -> None:
        """Until now the person looked at these."""
        for page in chain(*map(self._hub.storage.in_tab, tabs)):
            page.seen = time.time()

    def take_settings(self) -> None:
        """They may have changed: who may publish, and whose tools stay."""
        self._keep_allowed()
        for page in self._hub.storage.all():
            self._keep_as_set(page)
        self.forget(lambda kept: not (kept.tool.asked or self._admission.keeps(kept.domain)))

    def _keep_as_set(self, page: Page) -> None:
        keeps = self._admission.keeps(page.domain)
        if any(tool.cached != (keeps or tool.asked) for tool in page.tools.values()):
            tools = {
                name: msgspec.structs.replace(tool, cached=keeps or tool.asked)
                for name, tool in page.tools.items()
            }
            self._hub.update(page.ref, tools, page.seen)

    def _keep_allowed(self) -> None:
        allowed = self._settings().page_origins
        storage = self._hub.storage
        self._gone([page for page in storage.all() if not is_allowed(page.origin, allowed)])
        self.forget(lambda kept: not is_allowed(kept.origin, allowed))

    def forget(self, which: Callable[[Remembered], bool]) -> None:
        """Tools that stay without a tab are to stay no longer."""
        self._hub.forget(which)

    def tidy(self) -> None:
        """Forget what is of no more use."""
        self._throttle.forget_idle()

    def _take(self, told: Registration) -> None:
        domain = domain_of(told.origin)
        if domain is None or not is_allowed(told.origin, self._settings().page_origins):
            self._complaints.say(told.origin[:LONGEST_URL] or "a page", "may not publish tools")
            self.gone(told.page)
            return
        self._ways.came(told.page)
        before = self._hub.storage.find(told.page)
        known = None if before is None else {**before.tools}
        page = self._admission.page(told, domain)
        if self._is_full(page):
            self._complaints.say(domain, f"has more than {TABS_PER_DOMAIN} tabs; the rest is left")
            return
        self._join(page)
        self._hub.register(page)
        if known is None or known.keys() != page.tools.keys():
            self._note(page, "registerTools" if known is None else "updateTools", len(page.tools))
        self._wake()

    def _is_full(self, page: Page) -> bool:
        storage = self._hub.storage
        is_known = next(storage.here(page.domain, page.ref.tab), None) is not None
        return not is_known and storage.tabs_of(page.domain) >= TABS_PER_DOMAIN

    def _join(self, page: Page) -> None:
        if isinstance(page.ref.tab, int) and page.ref.frame == 0:
            self._tabs.join(page.ref.tab, page.worker_id)

    def _gone(self, pages: Iterable[Page]) -> None:
        found = list(pages)
        self._hub.gone(*(page.ref for page in found))
        for page in found:
            self._lost(page)

    def _lost(self, page: Page) -> None:
        self._note(page, "unregisterTools", 0)
        for listener in self._listeners:
            listener(page.ref)
        self._wake()

    def _tab_changed(self, change: str, id: int) -> None:
        if change == "closed":
            there = self._hub.storage.in_tab(id)
            self._hub.closed(id)
            for page in there:
                if self._hub.storage.find(page.ref) is None:
                    self._lost(page)
            return
        tab = self._tabs.find(id)
        # Before anybody has turned to one: news of a tab are no sign that a person looks at it.
        if self._hub.active is None and tab and tab.active and tab.focused_window:
            self.activated(id)

    def _note(self, page: Page, what: str, tools: int) -> None:
        """One line in the record, if the domain has not caused too many."""
        if self._allowance.spend(page.domain):
            told = {"tab": page.tab, "frame": page.ref.frame, "tools": tools}
            self._audit.record(incident(page.domain, "page", f"browser/{what}", told))

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


def _tab(page: PageRef) -> tuple[str, TabKey]:
    return page.transport, page.tab
