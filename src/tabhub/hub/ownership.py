"""Whose tab is whose. A tab without an owner is the person's own.

An owner is forgotten when the tab closes. When only its browser goes away, or the server does,
the tab is parked: found again by browser, run of the browser, and the browser's own number.
"""

from collections.abc import Callable
from typing import NamedTuple

from tabhub.hub.tabs import Tab, Tabs


class Place(NamedTuple):
    """Where a tab is, in terms that outlive the server."""

    browser: str
    run: str
    """Changes with every start of the browser: the same number is then another tab."""
    native_id: int


class Ownership:
    """The owner of each tab, and what the person shares."""

    def __init__(self, tabs: Tabs) -> None:
        self._tabs = tabs
        self._owners: dict[int, str] = {}
        self._shared: set[int] = set()
        self._openers: dict[int, int] = {}
        self._opened_from: dict[int, str] = {}
        self._parked: dict[Place, str] = {}
        self._doomed: set[Place] = set()
        self._runs: dict[str, str] = {}
        self._groups: dict[tuple[str, str], int] = {}
        self._listeners: list[Callable[[str], None]] = []
        self.shares_active = False
        """Whether agents may use the tab that the person looks at."""

    def owner(self, tab: int) -> str | None:
        return self._owners.get(tab)

    def of(self, session: str) -> list[int]:
        return [tab for tab, owner in self._owners.items() if owner == session]

    def may_use(self, session: str, tab: Tab) -> bool:
        owner = self._owners.get(tab.id)
        if owner is not None:
            return owner == session
        return self.is_shared(tab)

    def is_shared(self, tab: Tab) -> bool:
        return tab.id in self._shared or (self.shares_active and tab.active and tab.focused_window)

    def take(self, session: str, tab: int) -> None:
        """A tab, and what its page has opened meanwhile, belongs to a session from now on."""
        self._owners[tab] = session
        self._shared.discard(tab)
        for child, opener in self._openers.items():
            if opener == tab and child not in self._owners:
                self.take(session, child)
        self._tell(session)

    def opened(self, child: int, opener: int) -> str | None:
        """A page has opened a tab; the session that owns it now, if one does."""
        self._openers[child] = opener
        parent = self._tabs.find(opener)
        if parent is not None:
            self._opened_from[child] = self.address(parent)
        session = self._owners.get(opener)
        if session is not None and child not in self._owners:
            self.take(session, child)
        return self._owners.get(child)

    def address(self, tab: Tab) -> str:
        """Whose page a tab shows: a blank one belongs to the page that opened it."""
        is_blank = tab.url.partition("#")[0] in ("", "about:blank")
        return self._opened_from.get(tab.id, tab.url) if is_blank else tab.url

    def free(self, tab: int) -> str | None:
        """Give a tab back to the person; the session that had it."""
        session = self._owners.pop(tab, None)
        self._shared.discard(tab)
        self._openers.pop(tab, None)
        if session is not None:
            self._tell(session)
        return session

    def share(self, tab: int, shared: bool) -> None:
        (self._shared.add if shared else self._shared.discard)(tab)

    def closed(self, tab: int) -> None:
        self.free(tab)
        self._opened_from.pop(tab, None)
        # Its number may come again, for another tab.
        pairs = self._openers.items()
        self._openers = {child: opener for child, opener in pairs if tab not in (child, opener)}

    def group(self, session: str, browser: str) -> int | None:
        return self._groups.get((session, browser))

    def grouped(self, session: str, browser: str, group: int) -> None:
        self._groups[session, browser] = group

    def doom(self, tab: Tab) -> None:
        """To be closed as soon as its browser is back."""
        self._doomed.add(self._place(tab))

    def is_doomed(self, tab: Tab) -> bool:
        place = self._place(tab)
        known = place in self._doomed
        self._doomed.discard(place)
        return known

    def end(self, session: str) -> list[int]:
        """A session is over: its tabs, which are nobody's now."""
        tabs = self.of(session)
        for tab in tabs:
            del self._owners[tab]
        self._doomed |= {place for place, owner in self._parked.items() if owner == session}
        self._parked = {place: owner for place, owner in self._parked.items() if owner != session}
        self._groups = {key: group for key, group in self._groups.items() if key[0] != session}
        return tabs

    def is_new_run(self, browser: str, run: str) -> bool:
        """Note which run of a browser this is; whether an earlier one was known."""
        before = self._runs.get(browser)
        self._runs[browser] = run
        return before is not None and before != run

    def park(self, browser: str) -> None:
        """A browser has gone: its tabs keep their owners in case it comes back."""
        for tab in self._tabs.of_browser(browser):
            session = self._owners.get(tab.id)
            if session is not None:
                self._parked[self._place(tab)] = session

    def reclaim(self, tab: Tab) -> str | None:
        """A tab is there again: the session it belonged to has it back."""
        session = self._parked.pop(self._place(tab), None)
        if session is not None:
            self.take(session, tab.id)
        return session

    def drop_parked(self, browser: str) -> None:
        """A browser has told all its tabs: what it did not name is gone."""
        self._parked = {p: owner for p, owner in self._parked.items() if p.browser != browser}

    def places(self, session: str) -> list[Place]:
        """Where a session's tabs are, connected or parked."""
        known = (self._tabs.find(tab) for tab in self.of(session))
        here = [self._place(tab) for tab in known if tab is not None]
        return here + [place for place, owner in self._parked.items() if owner == session]

    def restore(self, session: str, places: list[Place]) -> None:
        self._parked.update(dict.fromkeys(places, session))

    def on_change(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    def _place(self, tab: Tab) -> Place:
        return Place(tab.browser, self._runs.get(tab.browser, ""), tab.native_id)

    def _tell(self, session: str) -> None:
        for listener in self._listeners:
            listener(session)
