"""Registered pages and their tools, by domain, tab and document: MCP-B's `DomainToolStorage`."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from tabhub.wire.pages import Capabilities, Embedding, Kind

RESTORED = "restored"
"""The transport of pages from before a restart of the server, which cannot be reached yet."""

TabKey = int | str
"""The hub's number of a tab; the page worker's id for a tab that only the worker reaches."""


class PageRef(Struct, frozen=True):
    """One document, and the transport that reaches it."""

    transport: str
    """The name of the transport; two origins of page workers never share one."""
    tab: TabKey
    frame: int = 0
    document: str = ""


Holder = tuple[TabKey, tuple[PageRef, ...]]
"""A tab, and the documents in it."""


class Published(Struct, frozen=True, gc=False):
    """A tool that a page has published, after validation."""

    name: str
    description: str
    schema: bytes
    title: str | None = None
    annotations: bytes = b"{}"
    cached: bool = False
    """Whether it stays listed when the last tab that has it closes."""
    asked: bool = False
    """Whether the page requests that; otherwise a setting does."""
    patient: bool = False
    """Whether a person may have to do something before it answers."""

    @property
    def identity(self) -> tuple[bytes, bytes]:
        """What two tools of the same name must have in common to be the same tool."""
        return self.schema, self.annotations


@dataclass(slots=True)
class Page:
    """One document that publishes tools."""

    ref: PageRef
    domain: str
    origin: str
    url: str
    title: str
    tools: dict[str, Published]
    seen: float
    """When its last message arrived, in seconds since 1970."""
    capabilities: Capabilities = field(default_factory=Capabilities)
    kind: Kind | None = None
    worker_id: str = ""
    extensions: dict[str, Any] | None = None
    embedding: Embedding = "own"
    tab: TabKey = 0
    """The tab it is in: its own, or the one linked to the page worker's id."""
    _holder: Holder | None = None

    @property
    def is_guest(self) -> bool:
        """Whether it is a frame in a page of another origin."""
        return self.embedding != "own"

    @property
    def is_restored(self) -> bool:
        return self.ref.transport == RESTORED

    @property
    def transport(self) -> str:
        """The name of the transport that reaches it, or reached it before a restart."""
        return self.ref.document if self.is_restored else self.ref.transport

    @property
    def holder(self) -> Holder:
        """The tab with this document; one object for all of the page's tools, to save memory."""
        if self._holder is None or self._holder[0] != self.tab:
            self._holder = (self.tab, (self.ref,))
        return self._holder


@dataclass(slots=True)
class _DomainTab:
    """One tab of a domain, with the domain's pages in it."""

    index: int
    pages: dict[PageRef, Page] = field(default_factory=dict)


class DomainToolStorage:
    """The registered pages, by reference, and by domain and tab."""

    def __init__(self) -> None:
        self._pages: dict[PageRef, Page] = {}
        self._domains: dict[str, dict[TabKey, _DomainTab]] = {}
        self._tabs: dict[TabKey, tuple[PageRef, ...]] = {}

    def __len__(self) -> int:
        return len(self._pages)

    def all(self) -> list[Page]:
        return list(self._pages.values())

    def find(self, ref: PageRef) -> Page | None:
        return self._pages.get(ref)

    def put(self, page: Page) -> None:
        """Add a page that is not stored yet."""
        self._pages[page.ref] = page
        tabs = self._domains.setdefault(page.domain, {})
        tab = tabs.get(page.tab)
        if tab is None:
            tab = tabs[page.tab] = _DomainTab(_free_index(tabs))
        tab.pages[page.ref] = page
        self._tabs[page.tab] = (*self._tabs.get(page.tab, ()), page.ref)

    def drop(self, ref: PageRef) -> Page | None:
        page = self._pages.pop(ref, None)
        if page is None:
            return None
        tabs = self._domains[page.domain]
        del tabs[page.tab].pages[ref]
        if not tabs[page.tab].pages:
            del tabs[page.tab]
        if not tabs:
            del self._domains[page.domain]
        self._tabs[page.tab] = tuple(other for other in self._tabs[page.tab] if other != ref)
        if not self._tabs[page.tab]:
            del self._tabs[page.tab]
        return page

    def index(self, domain: str, tab: TabKey) -> int:
        """The number of a tab among its domain's, from 1; it stays while the tab is stored."""
        return self._domains[domain][tab].index

    def in_tab(self, tab: TabKey) -> list[Page]:
        return [self._pages[ref] for ref in self._tabs.get(tab, ())]

    def pages_of(self, domain: str, tab: TabKey) -> Iterator[Page]:
        """The pages of a domain in a tab."""
        found = self._domains.get(domain, {}).get(tab)
        return iter(()) if found is None else iter(found.pages.values())

    def knows(self, tab: TabKey) -> bool:
        return tab in self._tabs

    def tabs(self) -> list[TabKey]:
        return list(self._tabs)

    def tabs_of(self, domain: str) -> int:
        return len(self._domains.get(domain, ()))


def _free_index(tabs: dict[TabKey, _DomainTab]) -> int:
    """The smallest index that no tab of the domain has."""
    taken = {tab.index for tab in tabs.values()}
    index = 1
    while index in taken:
        index += 1
    return index
