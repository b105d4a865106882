"""Where registrations come in, from either transport. A page is hostile: all of it is bounded."""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from tabhub.calls.ports import AuditSink
from tabhub.calls.record import incident
from tabhub.config.settings import Settings
from tabhub.hub.descriptions import one_line, readable
from tabhub.hub.hub import Hub
from tabhub.hub.page_tools import Page, PageRef, Published, Remembered, TabKey
from tabhub.pages.complaints import Allowance, Complaints
from tabhub.pages.definitions import checked
from tabhub.pages.intake import Intake
from tabhub.pages.origins import LONGEST_URL, domain_of, is_allowed, own_url
from tabhub.pages.throttle import Throttle
from tabhub.pages.transport import PageTransport
from tabhub.pages.ways import Ways, later
from tabhub.wire.pages import Capabilities, Kind

TABS_PER_DOMAIN = 1000
SCHEMAS_PER_TAB = 8
"""All tools of a tab together may be as large as so many of the largest schemas."""
LONGEST_ID = 100
EXTENSION_BYTES = 16 * 1024
LEFT_OUT = "tabhub/leftOut"
"""What the extension has already refused of a page's tools."""


class Registration(Struct):
    """What a page has said last."""

    page: PageRef
    origin: str
    url: str
    title: str
    tools: list[Raw]
    capabilities: Capabilities
    kind: Kind
    worker_id: str
    extensions: dict[str, Any] | None


class Pages:
    """Takes what pages publish to the hub, and knows the way back to them."""

    def __init__(
        self,
        hub: Hub,
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
        self._ways.gone(name, self._by_way(name))

    def resume(self, name: str, transport: PageTransport) -> None:
        """It is back; pages that do not register anew have gone meanwhile."""
        self._ways.back(name, transport, self._by_way(name))

    def _by_way(self, name: str) -> set[PageRef]:
        return {page.ref for page in self._hub.storage.all() if page.ref.transport == name}

    def _late(self, name: str, refs: set[PageRef]) -> None:
        storage = self._hub.storage
        self._gone([page for ref in refs if (page := storage.find(ref)) is not None])
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

    def register(
        self,
        page: PageRef,
        origin: str,
        url: str,
        title: str,
        tools: list[Raw],
        capabilities: Capabilities,
        *,
        kind: Kind = "worker",
        worker_id: str = "",
        extensions: dict[str, Any] | None = None,
    ) -> None:
        """All that a page publishes; `origin` is what the browser says, never the page."""
        told = Registration(
            page, origin, url, title, tools, capabilities, kind, worker_id, extensions
        )
        self._put(told)

    def update(
        self, page: PageRef, tools: list[Raw], extensions: dict[str, Any] | None = None
    ) -> None:
        """The page's new list, as a whole; an empty one clears."""
        told = self._throttle.waiting(_tab(page), page) or self._known(page)
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
        self._hub.activated(tab)

    def looked_at(self, tab: str, origin: str) -> None:
        """A page says that the person looks at this tab of its."""
        self._hub.looked_at(domain_of(origin) or "", (origin, tab))

    def hidden(self, tab: str, origin: str) -> None:
        """The person looks at this tab no more; at which one instead, others say."""
        self._hub.hidden(domain_of(origin) or "", (origin, tab))

    def keep_allowed(self) -> None:
        """The setting may have changed: whose pages may not publish any more, has none."""
        allowed = self._settings().page_origins
        storage = self._hub.storage
        self._gone([page for page in storage.all() if not is_allowed(page.origin, allowed)])
        self.forget(lambda kept: not is_allowed(kept.origin, allowed))

    def forget(self, which: Callable[[Remembered], bool]) -> None:
        """Tools that stay without a tab are to stay no longer."""
        self._hub.forget(which)

    def tidy(self) -> None:
        """Forget what is of no more use."""
        self._throttle.forget(time.monotonic())

    def _put(self, told: Registration) -> None:
        if not self._throttle.put(_tab(told.page), told.page, told):
            domain = domain_of(told.origin) or "a page"
            self._complaints.say(domain, "tells its tools too often; only the latest list counts")

    def _take(self, told: Registration) -> None:
        domain = domain_of(told.origin)
        if domain is None or not is_allowed(told.origin, self._settings().page_origins):
            self._complaints.say(told.origin[:LONGEST_URL] or "a page", "may not publish tools")
            self.gone(told.page)
            return
        self._ways.came(told.page)
        before = self._hub.storage.find(told.page)
        known = None if before is None else {**before.tools}
        page = self._page(told, domain)
        if self._is_full(page):
            self._complaints.say(domain, f"has more than {TABS_PER_DOMAIN} tabs; the rest is left")
            return
        self._join(page)
        self._hub.register(page)
        if known is None or known.keys() != page.tools.keys():
            self._note(page, "registerTools" if known is None else "updateTools", len(page.tools))
        self._wake()

    def _known(self, ref: PageRef) -> Registration | None:
        page = self._hub.storage.find(ref)
        if page is None:
            return None
        return Registration(
            ref,
            page.origin,
            page.url,
            page.title,
            [],
            page.capabilities,
            page.kind or "worker",
            page.worker_id,
            page.extensions,
        )

    def _page(self, told: Registration, domain: str) -> Page:
        tools = self._fitting(told, domain)
        capabilities = told.capabilities
        if any(tool.cached for tool in tools.values()):
            capabilities = msgspec.structs.replace(capabilities, cache_supported=True)
        return Page(
            ref=told.page,
            domain=domain,
            origin=told.origin,
            url=own_url(told.url, told.origin),
            title=one_line(told.title),
            tools=tools,
            seen=time.time(),
            capabilities=capabilities,
            kind=told.kind,
            worker_id=told.worker_id if len(told.worker_id) <= LONGEST_ID else "",
            extensions=self._small(told.extensions, domain),
        )

    def _small(self, extensions: dict[str, Any] | None, domain: str) -> dict[str, Any] | None:
        left_out = (extensions or {}).get(LEFT_OUT)
        if left_out:
            self._complaints.say(
                domain, f"left out by the extension: {readable(str(left_out), 300)}"
            )
        if extensions and len(msgspec.json.encode(extensions)) > EXTENSION_BYTES:
            self._complaints.say(domain, f"extensions of more than {EXTENSION_BYTES} bytes")
            return None
        return extensions

    def _fitting(self, told: Registration, domain: str) -> dict[str, Published]:
        """As many tools as a tab may have, and none that is unfit."""
        limits, keeps = self._settings().limits, self._keeps(domain)
        intake = Intake(limits, *self._room(told.page), lambda fault: self._complain(domain, fault))
        return intake.take(told.tools, lambda raw: checked(raw, told.kind, limits, keeps))

    def _complain(self, domain: str, fault: str) -> None:
        self._complaints.say(domain, fault)

    def _keeps(self, domain: str) -> bool:
        return self._settings().cache.get(domain, False)

    def _room(self, ref: PageRef) -> tuple[int, int]:
        """How many tools, and how many bytes of them, a page may still have in its tab.

        Its frames share half of what a tab has, and only what the page itself leaves: an ad that
        comes first takes nothing from the page around it.
        """
        limits = self._settings().limits
        most, size = limits.tools_per_tab, SCHEMAS_PER_TAB * limits.schema_bytes
        others = [page for page in self._hub.storage.in_tab(ref.tab) if page.ref != ref]
        count_of_frames, size_of_frames = _taken(page for page in others if page.ref.frame)
        if not ref.frame:
            return most - count_of_frames, size - size_of_frames
        count_of_all, size_of_all = _taken(others)
        return (
            min(most // 2 - count_of_frames, most - count_of_all),
            min(size // 2 - size_of_frames, size - size_of_all),
        )

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


def _taken(pages: Iterable[Page]) -> tuple[int, int]:
    sizes = [len(tool.schema) for page in pages for tool in page.tools.values()]
    return len(sizes), sum(sizes)


def _tab(page: PageRef) -> tuple[str, TabKey]:
    return page.transport, page.tab
