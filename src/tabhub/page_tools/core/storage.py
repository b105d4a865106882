"""What pages publish, by domain, tab and document: the `DomainToolStorage` of MCP-B."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from tabhub.wire.pages import Capabilities, Kind

RESTORED = "restored"
"""The transport of pages from before the server was started anew: there is no way to them yet."""

TabKey = int | str
"""The hub's number of a tab; for one that only the page worker reaches, its id."""


class PageRef(Struct, frozen=True):
    """One document, and the way to it."""

    transport: str
    """Which way: no two origins of the page worker may share one."""
    tab: TabKey
    frame: int = 0
    document: str = ""


Holder = tuple[TabKey, tuple[PageRef, ...]]
"""A tab, and the documents in it."""


class Published(Struct, frozen=True, gc=False):
    """A tool as a page has published it, checked."""

    name: str
    description: str
    schema: bytes
    title: str | None = None
    annotations: bytes = b"{}"
    cached: bool = False
    """Whether it stays when the last tab that has it goes."""
    asked: bool = False
    """Whether the page itself wants that; else a setting does."""
    patient: bool = False
    """Whether a person may have to do something before it answers."""

    @property
    def identity(self) -> tuple[bytes, bytes]:
        """What must be the same for two tabs to have the same tool, beside the name."""
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
    """When it last said something, in seconds since 1970."""
    capabilities: Capabilities = field(default_factory=Capabilities)
    kind: Kind | None = None
    worker_id: str = ""
    extensions: dict[str, Any] | None = None
    tab: TabKey = 0
    """The tab it is in: its own, or the one that the page worker's id stands for."""
    _holder: Holder | None = None

    @property
    def is_restored(self) -> bool:
        return self.ref.transport == RESTORED

    @property
    def way(self) -> str:
        """The way by which it is reached, or was and may be again."""
        return self.ref.document if self.is_restored else self.ref.transport

    @property
    def holder(self) -> Holder:
        """Made once: all of its tools share it."""
        if self._holder is None or self._holder[0] != self.tab:
            self._holder = (self.tab, (self.ref,))
        return self._holder


class Remembered(Struct, frozen=True):
    """A tool that is kept though no tab has it."""

    domain: str
    tool: Published
    url: str
    origin: str
    at: float
    way: str = ""
    """The way to the page that published it last."""


@dataclass(slots=True)
class Holding:
    """One tab of a domain, with its pages there."""

    index: int
    pages: dict[PageRef, Page] = field(default_factory=dict)


class DomainToolStorage:
    """Pages by reference, by domain and tab; what is known of a tab leaves the others alone."""

    def __init__(self) -> None:
        self._pages: dict[PageRef, Page] = {}
        self._domains: dict[str, dict[TabKey, Holding]] = {}
        self._tabs: dict[TabKey, tuple[PageRef, ...]] = {}

    def __len__(self) -> int:
        return len(self._pages)

    def all(self) -> list[Page]:
        return list(self._pages.values())

    def find(self, ref: PageRef) -> Page | None:
        return self._pages.get(ref)

    def put(self, page: Page) -> None:
        """Take a page that is not there yet."""
        self._pages[page.ref] = page
        tabs = self._domains.setdefault(page.domain, {})
        holding = tabs.get(page.tab)
        if holding is None:
            holding = tabs[page.tab] = Holding(_free_index(tabs))
        holding.pages[page.ref] = page
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
        """Which of a domain's tabs this is, from one; kept while it is there."""
        return self._domains[domain][tab].index

    def in_tab(self, tab: TabKey) -> list[Page]:
        return [self._pages[ref] for ref in self._tabs.get(tab, ())]

    def here(self, domain: str, tab: TabKey) -> Iterator[Page]:
        """The pages of a domain in a tab."""
        holding = self._domains.get(domain, {}).get(tab)
        return iter(()) if holding is None else iter(holding.pages.values())

    def knows(self, tab: TabKey) -> bool:
        return tab in self._tabs

    def tabs(self) -> list[TabKey]:
        return list(self._tabs)

    def tabs_of(self, domain: str) -> int:
        return len(self._domains.get(domain, ()))


def _free_index(tabs: dict[TabKey, Holding]) -> int:
    """The smallest that no tab of the domain has."""
    taken = {holding.index for holding in tabs.values()}
    index = 1
    while index in taken:
        index += 1
    return index
