"""The hub of a server that offers page tools. Other rooms see only the plain hub."""

from typing import NamedTuple

from tabhub.errors import InvalidArguments, NotFound
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tabs, as_number
from tabhub.page_tools.core.listing import Entry
from tabhub.page_tools.core.registry import PageRegistry
from tabhub.page_tools.core.storage import PageRef, TabKey

SHOWN_TABS = 20
Holders = dict[TabKey, tuple[PageRef, ...]]


class Choice(NamedTuple):
    """A tab, or none: then one must be opened."""

    tab: TabKey | None
    why: str


class PageRoutes:
    """Explicit, the only one, the session's own, the one in front, the one updated last."""

    def __init__(self, pages: PageRegistry, tabs: Tabs) -> None:
        self._pages = pages
        self._tabs = tabs

    def choose(self, name: str, wanted: object, current: int | None) -> Choice:
        entry = self._entry(name)
        there = entry.tabs
        if wanted is not None:
            return Choice(self._named(entry, wanted), "named")
        choice = self._best(entry.domain, there, current)
        if choice.tab is not None and self._is_away(there[choice.tab]):
            near = {tab: refs for tab, refs in there.items() if not self._is_away(refs)}
            return self._best(entry.domain, near, current) if near else choice
        return choice

    def _best(self, domain: str, there: Holders, current: int | None) -> Choice:
        if len(there) == 1:
            return Choice(next(iter(there)), "only")
        if current is not None and current in there:
            return Choice(current, "current")
        in_front = self._pages.in_front(domain)
        for active in in_front:
            if active in there:
                return Choice(active, "active")
        if there:
            return Choice(next(reversed(there)), "latest" if in_front else "no_active")
        return Choice(None, "remembered")

    def _is_away(self, refs: tuple[PageRef, ...]) -> bool:
        """Whether no call reaches these pages now; they may come back."""
        return all(ref.transport in self._pages.away for ref in refs)

    def _entry(self, name: str) -> Entry:
        entry = self._pages.find(name)
        if entry is None:
            raise NotFound(f"There is no tool called {name!r}.", "unknown_tool")
        return entry

    def _named(self, entry: Entry, wanted: object) -> TabKey:
        if isinstance(wanted, bool) or not isinstance(wanted, int | str):
            raise InvalidArguments(f"{entry.name}: the tab must be named by a number or a text.")
        tab = wanted if wanted in entry.tabs else self._alias(entry, wanted)
        if tab not in entry.tabs:
            raise self._missing(entry, wanted)
        return tab

    def _alias(self, entry: Entry, wanted: TabKey) -> TabKey:
        if not isinstance(wanted, str):
            return wanted
        number = as_number(wanted)
        return self._pages.alias(entry.domain, wanted) if number is None else number

    def _missing(self, entry: Entry, wanted: TabKey) -> NotFound:
        known = list(entry.tabs)
        there = ", ".join(str(tab) for tab in known[:SHOWN_TABS]) or "none"
        return NotFound(
            f"Tool '{entry.name}' not available in tab '{str(wanted)[:100]}'. "
            f"Available tabs: {there}",
            "no_tab_for_tool" if self._is_open(wanted) else "tab_not_found",
            data={"tabs": known[:SHOWN_TABS]},
        )

    def _is_open(self, wanted: TabKey) -> bool:
        number = self._tabs.number_of(wanted) if isinstance(wanted, str) else wanted
        is_in_browser = number is not None and self._tabs.find(number) is not None
        return is_in_browser or self._pages.storage.knows(wanted)


class PageHub(Hub):
    """A hub that also knows what pages publish and where their tools run."""

    def __init__(self) -> None:
        super().__init__()
        self.pages = PageRegistry(self.tools)
        self.page_routes = PageRoutes(self.pages, self.tabs)
