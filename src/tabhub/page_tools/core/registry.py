"""The tools of all pages: who has them, which are listed, and what is remembered."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

from tabhub.hub.joined import Joined, WorkerId
from tabhub.hub.memory import Memory
from tabhub.hub.tools import Tool, ToolRegistry
from tabhub.page_tools.core.listing import Entry, Exposure, Key, Mode
from tabhub.page_tools.core.storage import (
    RESTORED,
    DomainToolStorage,
    Page,
    PageRef,
    Published,
    Remembered,
    TabKey,
)
from tabhub.wire.pages import Capabilities

MOST_LOOKED_AT = 1000
Listener = Callable[[str, TabKey], None]
"""Takes the domain and the tab that something has changed in."""
Named = Callable[[str, tuple[str, str]], object]
"""Takes a name, and the tool that has it: its domain, and what its page calls it."""


class PageHub:
    """Takes what pages tell, keeps the registry of tools in step, one change for each message."""

    def __init__(self, tools: ToolRegistry) -> None:
        self._tools = tools
        self.storage = DomainToolStorage()
        self._joined = Joined()
        self._looked_at: dict[str, WorkerId] = {}
        """For each domain the tab that its own pages say a person looks at."""
        self._listeners: list[Listener] = []
        self._namers: list[Named] = []
        self._rememberers: list[Callable[[], None]] = []
        self._capabilities: Capabilities | None = None
        self.away = {RESTORED}
        """Ways by which no page is reached now, though some may come back."""
        self.active: TabKey | None = None
        """The tab that a person looks at, or has looked at last, by their browser's word."""
        self.configure("merged", 300)

    def configure(self, mode: Mode, seconds: float) -> None:
        """How tools are listed; to be said before the first page."""
        self.exposure = Exposure(mode, seconds, self.storage.index, self.in_front, self._tell_name)

    def on_change(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def on_remembered(self, listener: Callable[[], None]) -> None:
        """Hear that other tools are remembered than before: `memory.take_changes` says which."""
        self._rememberers.append(listener)

    def on_named(self, listener: Named) -> None:
        """Hear of each tool that is about to be listed, by the names that it has."""
        self._namers.append(listener)

    def meaning(self, name: str) -> tuple[str, str] | None:
        """The tool that has a name, as its domain and its page have it."""
        entry = self.exposure.meaning(name)
        return None if entry is None else (entry.domain, entry.tool.name)

    def find(self, name: str) -> Entry | None:
        return self.exposure.find(name)

    def in_tab(self, tool: Tool, tab: TabKey) -> Entry | None:
        """What a tab has of a tool, whatever it is listed as there."""
        return self.exposure.in_tab(tool.site, tool.page_tool, tab)

    def register(self, page: Page) -> None:
        """All that a page publishes; told again it changes nothing."""
        known = self.storage.find(page.ref)
        page.tab = self._tab_of(page)
        if known is not None and (known.domain, known.tab) == (page.domain, page.tab):
            self._refresh(known, page)
        else:
            moved = self._join(page)
            stale = [known] if known else []
            stale += [p for p in self.storage.here(page.domain, page.tab) if p.is_restored]
            self._replace(stale + moved, [page, *(replace(p, tab=page.tab) for p in moved)])

    def update(self, ref: PageRef, tools: dict[str, Published], now: float) -> None:
        """The new list of a page that is known."""
        page = self.storage.find(ref)
        if page is not None:
            page.seen = now
            self._retool(page, tools)

    def gone(self, *refs: PageRef) -> None:
        """Pages are no more; what they had goes, unless others have it or it is remembered."""
        pages = [page for ref in refs if (page := self.storage.find(ref)) is not None]
        if pages:
            self._replace(pages, [])

    def closed(self, tab: TabKey) -> None:
        """A tab is no more in any browser; a page that still talks by itself has its own again."""
        there = self.storage.in_tab(tab)
        self._joined.close(tab)
        alive = [replace(page, tab=page.ref.tab) for page in there if page.ref.tab != tab]
        if there:
            self._replace(there, alive)
        if self.active == tab:
            self.active = None

    def activated(self, tab: TabKey | None) -> None:
        """Somebody looks at a tab. The list may show it, but has not changed for that."""
        if tab != self.active:
            before, self.active = self.active, tab
            self._show_active(before, tab)

    def looked_at(self, domain: str, id: WorkerId) -> None:
        """A page says that somebody looks at its tab: that counts for its own domain."""
        before = self.in_front(domain)
        self._looked_at.pop(domain, None)
        self._looked_at[domain] = id
        if len(self._looked_at) > MOST_LOOKED_AT:
            del self._looked_at[next(iter(self._looked_at))]
        self._show_active(*before, *self.in_front(domain))

    def hidden(self, domain: str, id: WorkerId) -> None:
        """Nobody looks at this tab any more, wherever they look now."""
        if self._looked_at.get(domain) == id:
            before = self.in_front(domain)
            del self._looked_at[domain]
            self._show_active(*before)

    def in_front(self, domain: str) -> list[TabKey]:
        """The tabs that a person may look at, for the tools of a domain: the surest one first."""
        found: list[TabKey] = [] if self.active is None else [self.active]
        id = self._looked_at.get(domain)
        if id is not None:
            joined = self._joined.find(id)
            found.append(id[1] if joined is None else joined)
        return found

    def _show_active(self, *tabs: TabKey | None) -> None:
        pages = chain(*(self.storage.in_tab(tab) for tab in {*tabs} if tab is not None))
        self.exposure.show_active((page, tool) for page in pages for tool in page.tools.values())
        self._settle(quiet=True)

    def load(self, pages: list[Page], remembered: list[Remembered]) -> None:
        """What was known before; whoever comes back takes its place."""
        for page in pages:
            page.tab = page.ref.tab
            self.storage.put(page)
            self._publish(page)
        for kept in remembered:
            self.exposure.remember(kept)
        self._settle()

    def restored(self, which: Callable[[Page], bool]) -> None:
        """Of the pages that have not come back, forget these."""
        pages = self.storage.all()
        self.gone(*(page.ref for page in pages if page.is_restored and which(page)))

    @property
    def memory(self) -> Memory:
        """What would stay if all tabs closed."""
        return self.exposure.memory

    def place(self, entry: Entry) -> Remembered | None:
        """Where a tool was published last, if it stays without tabs."""
        return self.memory.find(entry.domain, entry.tool.name)

    def forget(self, which: Callable[[Remembered], bool]) -> None:
        """Of what is remembered, forget these."""
        for kept in [kept for kept in self.memory if which(kept)]:
            self.exposure.forget(kept.domain, kept.tool.name)
        self._settle()

    def capabilities(self) -> Capabilities:
        """What any of the pages can do."""
        if self._capabilities is None:
            told = [page.capabilities for page in self.storage.all()]
            self._capabilities = Capabilities(
                multi_tab_support=any(one.multi_tab_support for one in told),
                cache_supported=any(one.cache_supported for one in told),
                elicitation=any(one.elicitation for one in told),
            )
        return self._capabilities

    def alias(self, domain: str, id: str) -> TabKey:
        """The tab that a page worker's id stands for."""
        for page in self.storage.all() if not self.storage.knows(id) else ():
            if page.domain == domain and id in (page.worker_id, page.ref.tab):
                return page.tab
        return id

    def _tab_of(self, page: Page) -> TabKey:
        own = page.ref.tab
        joined = self._joined.find((page.origin, own)) if isinstance(own, str) else None
        return own if joined is None else joined

    def _join(self, page: Page) -> list[Page]:
        """The extension names the page worker's id: one tab, if the origins agree. Who moves."""
        id, tab = page.worker_id, page.tab
        if not id or not isinstance(tab, int):
            return []
        self._joined.put((page.origin, id), tab)
        there = self.storage.here(page.domain, id)
        return [other for other in there if other.origin == page.origin]

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
                self.exposure.withdraw(page, tool)
        self._publish(page)
        self._settle()
        self._tell(page.domain, page.tab)

    def _replace(self, stale: list[Page], fresh: list[Page]) -> None:
        """Some pages for others; what both have is never gone in between."""
        dropped = [page for page in stale if self.storage.drop(page.ref) is not None]
        kept = {key for page in fresh for key in self._keys(page)}
        # A name is freed before somebody else may need it.
        self._withdraw(dropped, lambda key: key not in kept)
        for page in fresh:
            self.storage.put(page)
            self._publish(page)
        self._withdraw(dropped, lambda key: key in kept)
        self._capabilities = None
        self._settle()
        for domain, tab in {(page.domain, page.tab) for page in (*stale, *fresh)}:
            self._tell(domain, tab)

    def _withdraw(self, pages: list[Page], which: Callable[[Key], bool]) -> None:
        for page in pages:
            for key, tool in zip(self._keys(page), page.tools.values(), strict=True):
                if which(key):
                    self.exposure.withdraw(page, tool)

    def _keys(self, page: Page) -> list[Key]:
        return [self.exposure.key(page, tool) for tool in page.tools.values()]

    def _publish(self, page: Page) -> None:
        for tool in page.tools.values():
            self.exposure.publish(page, tool)

    def _settle(self, quiet: bool = False) -> None:
        put, gone = self.exposure.settle()
        if put or gone:
            self._tools.change(put, gone, quiet=quiet)
        for listener in self._rememberers if self.memory.has_changes else ():
            listener()

    def _tell_name(self, entry: Entry) -> None:
        for listener in self._namers:
            for name in {entry.name, entry.plain}:
                listener(name, (entry.domain, entry.tool.name))

    def _tell(self, domain: str, tab: TabKey) -> None:
        for listener in self._listeners:
            listener(domain, tab)
