"""Takes registrations of pages from every transport. Pages are hostile, so all of it is bounded."""

import asyncio
import time
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import msgspec
from msgspec import Raw

from tabhub.calls.ports import AuditSink, incident
from tabhub.config.clients import PAGE
from tabhub.config.settings import Settings
from tabhub.hub.tabs import MINTED_FROM
from tabhub.page_tools.core.memory import Remembered
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.page_tools.core.storage import Page, PageRef, TabKey
from tabhub.page_tools.flood_limits import FaultLog, Throttle
from tabhub.page_tools.intake import Admission, Registration
from tabhub.page_tools.origins import LONGEST_URL, domain_of, is_allowed
from tabhub.page_tools.transports import PageTransport, PageTransports, ToolsUpdate, later
from tabhub.wire.pages import Embedding

TABS_PER_DOMAIN = 1000
FOREIGN = (
    'is a frame that may not publish tools: the page around it does not allow it (allow="tools"), '
    "nor does the setting frameOrigins"
)


class Pages:
    """Puts what pages publish into the hub, and knows the transports that reach them."""

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
        self._transports = PageTransports(self._expired, later)
        self._fault_log = FaultLog(clock)
        self._admission = Admission(self._hub.storage, settings, self._fault_log)
        self._throttle: Throttle[Registration] = Throttle(self._take, clock, later)
        self._changed = asyncio.Event()
        self._listeners: list[Callable[[PageRef], None]] = []
        hub.tabs.on_change(self._tab_changed)

    def listen(self, transport: PageTransport) -> None:
        """Take what the pages of a transport send."""
        transport.on_message(self._received)
        transport.on_disconnect(self.gone)

    def connect(self, name: str, transport: PageTransport) -> None:
        """Add a transport; `PageRef.transport` is its name."""
        self.listen(transport)
        self._transports.open(name, transport)

    def disconnect(self, name: str) -> None:
        """Remove a transport and its pages."""
        if self._transports.close(name):
            self._gone([page for page in self._hub.storage.all() if page.ref.transport == name])

    def suspend(self, name: str) -> None:
        """A transport has disconnected and may reconnect; its pages stay for a while."""
        self._hub.unreachable.add(name)
        self._transports.disconnected(name, self._refs_of(name))

    def resume(self, name: str, transport: PageTransport) -> None:
        """A transport has connected; pages that do not register again soon are removed."""
        self._hub.unreachable.discard(name)
        self._transports.connected(name, transport, self._refs_of(name))

    def only_in(self, name: str, numbers: set[int]) -> None:
        """A browser has listed its tabs: remove restored pages of tabs it no longer has."""

        def is_lost(page: Page) -> bool:
            tab = page.ref.tab
            # A number that the server made up may belong to another tab after a restart.
            is_browsers_own = isinstance(tab, int) and tab < MINTED_FROM
            return is_browsers_own and page.ref.document == name and tab not in numbers

        self._hub.forget_restored(is_lost)
        self._wake()

    def _refs_of(self, name: str) -> set[PageRef]:
        return {page.ref for page in self._hub.storage.all() if page.ref.transport == name}

    def _expired(self, name: str, refs: set[PageRef]) -> None:
        storage = self._hub.storage
        self._gone([page for ref in refs if (page := storage.find(ref)) is not None])
        self._hub.unreachable.discard(name)
        self._hub.forget_restored(lambda page: page.ref.document == name)

    def transport(self, page: PageRef) -> PageTransport | None:
        return self._transports.find(page.transport)

    def on_gone(self, listener: Callable[[PageRef], None]) -> None:
        self._listeners.append(listener)

    async def wait_for_change(self, seconds: float) -> None:
        """Wait until any page registers, changes or goes, or until the time is over."""
        changed = self._changed
        try:
            async with asyncio.timeout(seconds):
                await changed.wait()
        except TimeoutError:
            return

    def _received(self, message: Registration | ToolsUpdate) -> None:
        if isinstance(message, Registration):
            self.register(message)
        else:
            self.update(message.page, message.tools, message.extensions)

    def register(self, registration: Registration) -> None:
        """Take everything that a page publishes, unless it sends too much; then a little later."""
        self._enqueue(registration)

    def _enqueue(self, registration: Registration) -> None:
        if not self._throttle.put(_tab(registration.page), registration.page, registration):
            domain = domain_of(registration.origin) or "a page"
            self._fault_log.add(domain, "sends its tools too often; only the latest list counts")

    def update(
        self, page: PageRef, tools: list[Raw], extensions: dict[str, Any] | None = None
    ) -> None:
        """Replace all tools of a page; an empty list removes them."""
        known = self._throttle.waiting(_tab(page), page) or self._admission.known(page)
        if known is None:
            self._fault_log.add(page.transport, "an update of a page that has not registered")
            return
        latest = known.extensions if extensions is None else extensions
        self._enqueue(msgspec.structs.replace(known, tools=tools, extensions=latest))

    def gone(self, page: PageRef) -> None:
        """Remove a page."""
        self._throttle.drop(_tab(page), page)
        known = self._hub.storage.find(page)
        if known is not None:
            self._gone([known])

    def activated(self, tab: TabKey | None) -> None:
        """The browser's active tab is this one; None if it is an unknown one."""
        self._mark_seen([] if self._hub.active is None else [self._hub.active])
        self._hub.activated(tab)

    def looked_at(self, tab: str, origin: str) -> None:
        """A page reports that the person looks at its tab."""
        domain = domain_of(origin) or ""
        self._mark_seen(self._hub.in_front(domain))
        self._hub.looked_at(domain, (origin, tab))

    def hidden(self, tab: str, origin: str) -> None:
        """A page reports that the person no longer looks at its tab."""
        domain = domain_of(origin) or ""
        self._mark_seen(self._hub.in_front(domain))
        self._hub.hidden(domain, (origin, tab))

    def _mark_seen(self, tabs: list[TabKey]) -> None:
        """Set the time at which the person last looked at these tabs."""
        for page in chain(*map(self._hub.storage.in_tab, tabs)):
            page.seen = time.time()

    def take_settings(self) -> None:
        """Apply changed settings: which pages may publish, and whose tools are remembered."""
        self._remove_forbidden()
        for page in self._hub.storage.all():
            self._apply_cache_setting(page)
        self.forget(lambda kept: not (kept.tool.asked or self._admission.keeps(kept.domain)))

    def _apply_cache_setting(self, page: Page) -> None:
        keeps = self._admission.keeps(page.domain) and not page.is_guest
        if any(tool.cached != (keeps or tool.asked) for tool in page.tools.values()):
            tools = {
                name: msgspec.structs.replace(tool, cached=keeps or tool.asked)
                for name, tool in page.tools.items()
            }
            self._hub.update(page.ref, tools, page.seen)

    def _remove_forbidden(self) -> None:
        allowed = self._settings().page_origins
        for page in list(self._hub.storage.all()):
            if not self._may_publish(page.ref, page.origin, page.embedding):
                self._disconnect(page.ref)
        self.forget(lambda kept: not is_allowed(kept.origin, allowed))

    def _disconnect(self, page: PageRef) -> None:
        """Remove a page that may not publish tools any more."""
        transport = self.transport(page)
        if transport is not None:
            transport.disconnect(page)
        self.gone(page)

    def forget(self, which: Callable[[Remembered], bool]) -> None:
        """Remove the selected remembered tools."""
        self._hub.forget(which)

    def tidy(self) -> None:
        """Forget the message counts of idle tabs."""
        self._throttle.forget_idle()

    def _take(self, registration: Registration) -> None:
        ref, origin = registration.page, registration.origin
        domain = domain_of(origin)
        if domain is None or not self._may_publish(ref, origin, registration.embedding):
            fault = FOREIGN if registration.embedding == "foreign" else "may not publish tools"
            self._fault_log.add(origin[:LONGEST_URL] or "a page", fault)
            self.gone(ref)
            return
        self._transports.registered(ref)
        before = self._hub.storage.find(ref)
        known = None if before is None else {**before.tools}
        page = self._admission.page(registration, domain)
        if self._is_full(page):
            self._fault_log.add(domain, f"has more than {TABS_PER_DOMAIN} tabs; others are ignored")
            return
        self._join(page)
        self._hub.register(page)
        if known != page.tools:
            self._note(page, "registerTools" if known is None else "updateTools", len(page.tools))
        self._wake()

    def _may_publish(self, ref: PageRef, origin: str, embedding: Embedding) -> bool:
        if isinstance(ref.tab, str):
            # Its worker is connected because the person has paired the origin.
            return True
        settings = self._settings()
        if embedding == "foreign" and not is_allowed(origin, settings.frame_origins):
            return False
        return is_allowed(origin, settings.page_origins)

    def _is_full(self, page: Page) -> bool:
        storage = self._hub.storage
        is_known = next(storage.pages_of(page.domain, page.ref.tab), None) is not None
        return not is_known and storage.tabs_of(page.domain) >= TABS_PER_DOMAIN

    def _join(self, page: Page) -> None:
        """Connect the tab that the extension sees with the worker's, if they are of one origin.

        A page chooses the id that it announces, so it could name another site's tab.
        """
        tab, pages = page.ref.tab, self._hub.storage.in_tab
        if isinstance(tab, int) and page.ref.frame == 0:
            of_others = any(other.origin != page.origin for other in pages(page.worker_id))
            self._tabs.join(tab, "" if of_others else page.worker_id)
        elif isinstance(tab, str) and (claimed := self._tabs.by_worker(tab)) is not None:
            main = (other for other in pages(claimed.id) if not other.ref.frame)
            if any(other.origin != page.origin for other in main):
                self._tabs.join(claimed.id, "")

    def _gone(self, pages: Iterable[Page]) -> None:
        removed = list(pages)
        self._hub.gone(*(page.ref for page in removed))
        for page in removed:
            self._removed(page)

    def _removed(self, page: Page) -> None:
        self._note(page, "unregisterTools", 0)
        for listener in self._listeners:
            listener(page.ref)
        self._wake()

    def _tab_changed(self, change: str, id: int) -> None:
        if change == "closed":
            pages = self._hub.storage.in_tab(id)
            self._hub.closed(id)
            for page in pages:
                if self._hub.storage.find(page.ref) is None:
                    self._removed(page)
            return
        tab = self._tabs.find(id)
        # Only until the first activation: later, a changed tab need not be the one looked at.
        if self._hub.active is None and tab and tab.active and tab.focused_window:
            self.activated(id)

    def _note(self, page: Page, what: str, tools: int) -> None:
        """Write it to the audit log, which folds too many of one site."""
        arguments = {"tab": page.tab, "frame": page.ref.frame, "tools": tools}
        event = incident(page.domain, PAGE, f"browser/{what}", arguments)
        self._audit.record(msgspec.structs.replace(event, tab=page.tab, origin=page.origin))

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _tab(page: PageRef) -> tuple[str, TabKey]:
    return page.transport, page.tab
