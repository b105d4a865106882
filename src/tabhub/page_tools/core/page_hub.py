"""The hub with page tools, and the routing of their calls. Lower rooms see only the plain hub."""

from typing import NamedTuple

from tabhub.errors import InvalidArguments, NotFound
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tabs, as_number
from tabhub.page_tools.core.listing import Entry
from tabhub.page_tools.core.registry import PageRegistry
from tabhub.page_tools.core.storage import PageRef, TabKey

SHOWN_TABS = 20
TabPages = dict[TabKey, tuple[PageRef, ...]]


class Choice(NamedTuple):
    """The tab of a call and why it was chosen; without a tab, one must be opened."""

    tab: TabKey | None
    why: str


class PageRoutes:
    """Chooses a tab: the named one, the only one, the current one, the active one, the latest."""

    def __init__(self, pages: PageRegistry, tabs: Tabs) -> None:
        self._pages = pages
        self._tabs = tabs

    def choose(self, name: str, requested: object, current: int | None) -> Choice:
        entry = self._entry(name)
        tabs = entry.tabs
        if requested is not None:
            return Choice(self._named(entry, requested), "named")
        choice = self._best(entry.domain, tabs, current)
        if choice.tab is not None and self._is_unreachable(tabs[choice.tab]):
            reachable = {tab: refs for tab, refs in tabs.items() if not self._is_unreachable(refs)}
            return self._best(entry.domain, reachable, current) if reachable else choice
        return choice

    def _best(self, domain: str, tabs: TabPages, current: int | None) -> Choice:
        if len(tabs) == 1:
            return Choice(next(iter(tabs)), "only")
        if current is not None and current in tabs:
            return Choice(current, "current")
        in_front = self._pages.in_front(domain)
        for active in in_front:
            if active in tabs:
                return Choice(active, "active")
        if tabs:
            return Choice(next(reversed(tabs)), "latest" if in_front else "no_active")
        return Choice(None, "remembered")

    def _is_unreachable(self, refs: tuple[PageRef, ...]) -> bool:
        """Whether no call can reach these pages now; their transport may reconnect."""
        return all(ref.transport in self._pages.unreachable for ref in refs)

    def _entry(self, name: str) -> Entry:
        entry = self._pages.find(name)
        if entry is None:
            raise NotFound(f"There is no tool called {name!r}.", "unknown_tool")
        return entry

    def _named(self, entry: Entry, requested: object) -> TabKey:
        if isinstance(requested, bool) or not isinstance(requested, int | str):
            raise InvalidArguments(f"{entry.name}: the tab must be named by a number or a text.")
        tab = requested if requested in entry.tabs else self._alias(entry, requested)
        if tab not in entry.tabs:
            raise self._missing(entry, requested)
        return tab

    def _alias(self, entry: Entry, requested: TabKey) -> TabKey:
        if not isinstance(requested, str):
            return requested
        number = as_number(requested)
        return self._pages.alias(entry.domain, requested) if number is None else number

    def _missing(self, entry: Entry, requested: TabKey) -> NotFound:
        tabs = list(entry.tabs)[:SHOWN_TABS]
        return NotFound(
            f"Tool '{entry.name}' not available in tab '{str(requested)[:100]}'. "
            f"Available tabs: {', '.join(map(str, tabs)) or 'none'}",
            "no_tab_for_tool" if self._is_open(requested) else "tab_not_found",
            data={"tabs": tabs},
        )

    def _is_open(self, requested: TabKey) -> bool:
        number = self._tabs.number_of(requested) if isinstance(requested, str) else requested
        is_in_browser = number is not None and self._tabs.find(number) is not None
        return is_in_browser or self._pages.storage.knows(requested)


class PageHub(Hub):
    """A hub that also has the tools that pages publish, and routes their calls."""

    def __init__(self) -> None:
        super().__init__()
        self.pages = PageRegistry(self.tools)
        self.page_routes = PageRoutes(self.pages, self.tabs)
