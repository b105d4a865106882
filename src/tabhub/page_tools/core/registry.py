"""The tools of all pages: which pages have them, which are listed, and which are remembered."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

from tabhub.hub.tools import Tool, ToolRegistry
from tabhub.page_tools.core.listing import Entry, Key, Mode, ToolListing
from tabhub.page_tools.core.memory import Remembered, ToolMemory
from tabhub.page_tools.core.storage import (
    RESTORED,
    DomainToolStorage,
    Page,
    PageRef,
    Published,
    TabKey,
)
from tabhub.wire.pages import Capabilities

MOST_IDS = 8
"""Worker ids kept for a tab: a page has one, and a reload, a frame or a login may add another."""
MOST_VIEWED = 1000

WorkerId = tuple[str, str]
"""An origin, and its page worker's id of a tab."""
Listener = Callable[[str, TabKey], None]
"""Takes the domain and the tab whose pages have changed."""
NameListener = Callable[[str, tuple[str, str]], object]
"""Takes a listed name, and the tool that has it: its domain, and its name in the page."""


class PageRegistry:
    """Takes registrations of pages, and updates the registry of tools once for each."""

    def __init__(self, tools: ToolRegistry) -> None:
        self._tools = tools
        self.storage = DomainToolStorage()
        self._worker_tabs = WorkerTabs()
        self._viewed: dict[str, WorkerId] = {}
        """For each domain, the tab that its own pages report as visible to the person."""
        self._listeners: list[Listener] = []
        self._name_listeners: list[NameListener] = []
        self._memory_listeners: list[Callable[[], None]] = []
        self._capabilities: Capabilities | None = None
        self.unreachable = {RESTORED}
        """Names of transports that are not connected now but may reconnect."""
        self.active: TabKey | None = None
        """The tab that a browser last reported as active."""
        self.configure("merged", 300)

    def configure(self, mode: Mode, seconds: float) -> None:
        """Set how tools are listed; call it before the first page registers."""
        self.listing = ToolListing(
            mode, seconds, self.storage.index, self.in_front, self._notify_named
        )

    def on_change(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def on_remembered(self, listener: Callable[[], None]) -> None:
        """Call the listener when the remembered tools change; `memory.take_changes` has which."""
        self._memory_listeners.append(listener)

    def on_named(self, listener: NameListener) -> None:
        """Call the listener with each name of a tool that is about to be listed."""
        self._name_listeners.append(listener)

    def meaning(self, name: str) -> tuple[str, str] | None:
        """The domain, and the name in the page, of the tool listed under a name."""
        entry = self.listing.meaning(name)
        return None if entry is None else (entry.domain, entry.tool.name)

    def find(self, name: str) -> Entry | None:
        return self.listing.find(name)

    def in_tab(self, tool: Tool, tab: TabKey) -> Entry | None:
        """The entry of a tool in a tab, under whatever name it is listed there."""
        return self.listing.in_tab(tool.site, tool.page_tool, tab)

    def register(self, page: Page) -> None:
        """Take everything that a page publishes; the same again changes nothing."""
        known = self.storage.find(page.ref)
        page.tab = self._tab_of(page)
        if known is not None and (known.domain, known.tab) == (page.domain, page.tab):
            self._refresh(known, page)
        else:
            moved = self._join(page)
            stale = [known] if known else []
            here = self.storage.pages_of(page.domain, page.tab)
            stale += [other for other in here if other.is_restored]
            self._replace(stale + moved, [page, *(replace(p, tab=page.tab) for p in moved)])

    def update(self, ref: PageRef, tools: dict[str, Published], now: float) -> None:
        """Replace the tools of a registered page."""
        page = self.storage.find(ref)
        if page is not None:
            page.seen = now
            self._retool(page, tools)

    def gone(self, *refs: PageRef) -> None:
        """Remove pages; a tool stays if another page has it or it is remembered."""
        pages = [page for ref in refs if (page := self.storage.find(ref)) is not None]
        if pages:
            self._replace(pages, [])

    def closed(self, tab: TabKey) -> None:
        """A tab has closed; a page whose worker is still connected gets its own tab key back."""
        pages = self.storage.in_tab(tab)
        self._worker_tabs.close(tab)
        alive = [replace(page, tab=page.ref.tab) for page in pages if page.ref.tab != tab]
        if pages:
            self._replace(pages, alive)
        if self.active == tab:
            self.active = None

    def activated(self, tab: TabKey | None) -> None:
        """The active tab has changed; the list may show that, but clients are not notified."""
        if tab != self.active:
            before, self.active = self.active, tab
            self._show_active(before, tab)

    def looked_at(self, domain: str, id: WorkerId) -> None:
        """A page reports that the person looks at its tab; that counts for its domain only."""
        before = self.in_front(domain)
        self._viewed.pop(domain, None)
        self._viewed[domain] = id
        if len(self._viewed) > MOST_VIEWED:
            del self._viewed[next(iter(self._viewed))]
        self._show_active(*before, *self.in_front(domain))

    def hidden(self, domain: str, id: WorkerId) -> None:
        """A page reports that the person no longer looks at its tab."""
        if self._viewed.get(domain) == id:
            before = self.in_front(domain)
            del self._viewed[domain]
            self._show_active(*before)

    def in_front(self, domain: str) -> list[TabKey]:
        """The tabs that the person may be looking at, for a domain's tools; the surest first."""
        tabs: list[TabKey] = [] if self.active is None else [self.active]
        id = self._viewed.get(domain)
        return tabs if id is None else [*tabs, self._tab_with(id)]

    def active_pages(self) -> list[Page]:
        """The pages in the one tab that counts as active, whatever its domain.

        The browser knows best; without its word, the page that reported last is right.
        """
        if self.active is not None and (pages := self._connected(self.active)):
            return pages
        for domain, id in reversed(self._viewed.items()):
            pages = self._connected(self._tab_with(id))
            # Worker ids are unique within a domain only.
            if found := [
                page for page in pages if isinstance(page.tab, int) or page.domain == domain
            ]:
                return found
        return []

    def _connected(self, tab: TabKey) -> list[Page]:
        return [page for page in self.storage.in_tab(tab) if not page.is_restored]

    def _tab_with(self, id: WorkerId) -> TabKey:
        tab = self._worker_tabs.find(id)
        return id[1] if tab is None else tab

    def _show_active(self, *tabs: TabKey | None) -> None:
        pages = chain(*(self.storage.in_tab(tab) for tab in {*tabs} if tab is not None))
        self.listing.show_active((page, tool) for page in pages for tool in page.tools.values())
        self._settle(quiet=True)

    def load(self, pages: list[Page], remembered: list[Remembered]) -> None:
        """Take what was known before a restart; a page that registers replaces its old copy."""
        for page in pages:
            page.tab = page.ref.tab
            self.storage.put(page)
            self._publish(page)
        for kept in remembered:
            self.listing.remember(kept)
        self._settle()

    def forget_restored(self, which: Callable[[Page], bool]) -> None:
        """Remove the selected pages of those that have not registered since a restart."""
        pages = self.storage.all()
        self.gone(*(page.ref for page in pages if page.is_restored and which(page)))

    @property
    def memory(self) -> ToolMemory:
        """The tools that stay listed when all tabs close."""
        return self.listing.memory

    def place(self, entry: Entry) -> Remembered | None:
        """Where a tool was published last, if it stays without tabs."""
        return self.memory.find(entry.domain, entry.tool.name)

    def forget(self, which: Callable[[Remembered], bool]) -> None:
        """Remove the selected tools from memory."""
        for kept in [kept for kept in self.memory if which(kept)]:
            self.listing.forget(kept.domain, kept.tool.name)
        self._settle()

    def capabilities(self) -> Capabilities:
        """The capabilities of all pages together."""
        if self._capabilities is None:
            pages = [page.capabilities for page in self.storage.all()]
            self._capabilities = Capabilities(
                multi_tab_support=any(page.multi_tab_support for page in pages),
                cache_supported=any(page.cache_supported for page in pages),
                elicitation=any(page.elicitation for page in pages),
            )
        return self._capabilities

    def alias(self, domain: str, id: str) -> TabKey:
        """The tab that has a page worker's id."""
        for page in self.storage.all() if not self.storage.knows(id) else ():
            if page.domain == domain and id in (page.worker_id, page.ref.tab):
                return page.tab
        return id

    def _tab_of(self, page: Page) -> TabKey:
        own = page.ref.tab
        tab = self._worker_tabs.find((page.origin, own)) if isinstance(own, str) else None
        return own if tab is None else tab

    def _join(self, page: Page) -> list[Page]:
        """Link the worker id that the extension reports to its tab.

        Returns the pages of the same origin that the worker registered and that move to this tab.
        """
        id, tab = page.worker_id, page.tab
        if not id or not isinstance(tab, int):
            return []
        self._worker_tabs.put((page.origin, id), tab)
        pages = self.storage.pages_of(page.domain, id)
        return [other for other in pages if other.origin == page.origin]

    def _refresh(self, known: Page, page: Page) -> None:
        for name in ("url", "title", "seen", "capabilities", "kind", "extensions", "worker_id"):
            setattr(known, name, getattr(page, name))
        self._capabilities = None
        moved = self._join(known)
        self._replace(moved, [replace(other, tab=known.tab) for other in moved])
        self._retool(known, page.tools)

    def _retool(self, page: Page, tools: dict[str, Published]) -> None:
        before = page.tools
        if before == tools:
            return
        page.tools = tools
        for name, tool in before.items():
            fresh = tools.get(name)
            if fresh is None or fresh.identity != tool.identity:
                self.listing.withdraw(page, tool)
        self._publish(page)
        self._settle()
        self._notify(page.domain, page.tab)

    def _replace(self, stale: list[Page], fresh: list[Page]) -> None:
        """Replace pages by others; a tool that both have stays listed throughout."""
        dropped = [page for page in stale if self.storage.drop(page.ref) is not None]
        kept = {key for page in fresh for key in self._keys(page)}
        # Names are freed first, because a new tool may need one of them.
        self._withdraw(dropped, lambda key: key not in kept)
        for page in fresh:
            self.storage.put(page)
            self._publish(page)
        self._withdraw(dropped, lambda key: key in kept)
        self._capabilities = None
        self._settle()
        for domain, tab in {(page.domain, page.tab) for page in (*stale, *fresh)}:
            self._notify(domain, tab)

    def _withdraw(self, pages: list[Page], which: Callable[[Key], bool]) -> None:
        for page in pages:
            for key, tool in zip(self._keys(page), page.tools.values(), strict=True):
                if which(key):
                    self.listing.withdraw(page, tool)

    def _keys(self, page: Page) -> list[Key]:
        return [self.listing.key(page, tool) for tool in page.tools.values()]

    def _publish(self, page: Page) -> None:
        for tool in page.tools.values():
            self.listing.publish(page, tool)

    def _settle(self, quiet: bool = False) -> None:
        put, gone = self.listing.settle()
        if put or gone:
            self._tools.change(put, gone, quiet=quiet)
        for listener in self._memory_listeners if self.memory.has_changes else ():
            listener()

    def _notify_named(self, entry: Entry) -> None:
        for listener in self._name_listeners:
            for name in {entry.name, entry.plain}:
                listener(name, (entry.domain, entry.tool.name))

    def _notify(self, domain: str, tab: TabKey) -> None:
        for listener in self._listeners:
            listener(domain, tab)


class WorkerTabs:
    """The tabs by their page workers' ids; of each tab the latest ids are kept."""

    def __init__(self) -> None:
        self._tabs: dict[WorkerId, int] = {}
        self._ids: dict[int, list[WorkerId]] = {}

    def __len__(self) -> int:
        return len(self._tabs)

    def put(self, id: WorkerId, tab: int) -> None:
        if self._tabs.get(id) == tab:
            return
        self._drop(id)
        self._tabs[id] = tab
        ids = self._ids.setdefault(tab, [])
        ids.append(id)
        if len(ids) > MOST_IDS:
            self._drop(ids[0])

    def find(self, id: WorkerId) -> int | None:
        return self._tabs.get(id)

    def close(self, tab: int | str) -> None:
        """Forget the ids of a tab that has closed."""
        for id in self._ids.pop(tab, ()) if isinstance(tab, int) else ():
            del self._tabs[id]

    def _drop(self, id: WorkerId) -> None:
        tab = self._tabs.pop(id, None)
        if tab is not None:
            self._ids[tab].remove(id)
