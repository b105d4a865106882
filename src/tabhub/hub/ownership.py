"""Which session owns which tab. A tab without an owner is the person's own.

Ownership ends when the tab closes. When the browser disconnects or the server restarts, the tab is
parked: it is recognized later by browser, run of the browser, and the browser's number for it.
"""

from collections.abc import Callable
from typing import NamedTuple

from tabhub.hub.sessions import PERSON
from tabhub.hub.tabs import Tab, Tabs


class TabIdentity(NamedTuple):
    """Identifies a tab across restarts of the server."""

    browser: str
    run: str
    """Changes with every start of the browser, since the same number is then another tab."""
    native_id: int


class Ownership:
    """The owner of each tab, and the tabs that the person shares."""

    def __init__(self, tabs: Tabs) -> None:
        self._tabs = tabs
        self._owners: dict[int, str] = {}
        self._shared: set[int] = set()
        self._shared_browsers: set[str] = set()
        self._openers: dict[int, int] = {}
        self._opened_from: dict[int, str] = {}
        self._parked: dict[TabIdentity, str] = {}
        self._to_close: set[TabIdentity] = set()
        self._runs: dict[str, str] = {}
        self._groups: dict[tuple[str, str], int] = {}
        self._listeners: list[Callable[[str], None]] = []
        self.shares_active = False
        """Whether agents may use the tab that is active in the focused window."""

    def owner(self, tab: int) -> str | None:
        return self._owners.get(tab)

    def of(self, session: str) -> list[int]:
        return [tab for tab, owner in self._owners.items() if owner == session]

    def may_use(self, session: str, tab: Tab) -> bool:
        if session.startswith(PERSON):
            return True
        owner = self._owners.get(tab.id)
        if owner is not None:
            return owner == session
        return self.is_shared(tab)

    def is_shared(self, tab: Tab) -> bool:
        is_looked_at = self.shares_active and tab.active and tab.focused_window
        return is_looked_at or tab.id in self._shared or tab.browser in self._shared_browsers

    def take(self, session: str, tab: int) -> None:
        """Give a tab, and the tabs that its page has opened, to a session."""
        self._owners[tab] = session
        self._shared.discard(tab)
        for child, opener in self._openers.items():
            if opener == tab and child not in self._owners:
                self.take(session, child)
        self._notify(session)

    def opened(self, child: int, opener: int) -> str | None:
        """Note that a page has opened a tab; returns the session that owns it now."""
        self._openers[child] = opener
        parent = self._tabs.find(opener)
        if parent is not None:
            self._opened_from[child] = self.address(parent)
        session = self._owners.get(opener)
        if session is not None and child not in self._owners:
            self.take(session, child)
        return self._owners.get(child)

    def address(self, tab: Tab) -> str:
        """The URL that permissions apply to; a blank page counts as the page that opened it."""
        is_blank = tab.url.partition("#")[0] in ("", "about:blank")
        return self._opened_from.get(tab.id, tab.url) if is_blank else tab.url

    def free(self, tab: int) -> str | None:
        """Give a tab back to the person; returns the session that owned it."""
        session = self._owners.pop(tab, None)
        self._shared.discard(tab)
        self._openers.pop(tab, None)
        if session is not None:
            self._notify(session)
        return session

    def share(self, tab: int, shared: bool) -> None:
        (self._shared.add if shared else self._shared.discard)(tab)

    def share_browser(self, browser: str, shared: bool) -> None:
        """Let agents use all tabs of a browser: its person has set their limits there."""
        (self._shared_browsers.add if shared else self._shared_browsers.discard)(browser)

    def closed(self, tab: int) -> None:
        self.free(tab)
        self._opened_from.pop(tab, None)
        # Its number may be used again for another tab.
        pairs = self._openers.items()
        self._openers = {child: opener for child, opener in pairs if tab not in (child, opener)}

    def group(self, session: str, browser: str) -> int | None:
        return self._groups.get((session, browser))

    def grouped(self, session: str, browser: str, group: int) -> None:
        self._groups[session, browser] = group

    def close_later(self, tab: Tab) -> None:
        """Mark a tab to be closed as soon as its browser is connected again."""
        self._to_close.add(self._place(tab))

    def take_close_mark(self, tab: Tab) -> bool:
        """Whether a tab is to be closed; the mark is removed."""
        place = self._place(tab)
        is_marked = place in self._to_close
        self._to_close.discard(place)
        return is_marked

    def end(self, session: str) -> list[int]:
        """Forget a session that has ended; returns its tabs, which have no owner now."""
        tabs = self.of(session)
        for tab in tabs:
            del self._owners[tab]
        self._to_close |= {place for place, owner in self._parked.items() if owner == session}
        self._parked = {place: owner for place, owner in self._parked.items() if owner != session}
        self._groups = {key: group for key, group in self._groups.items() if key[0] != session}
        return tabs

    def is_new_run(self, browser: str, run: str) -> bool:
        """Note the run of a browser; returns whether another run was known before."""
        before = self._runs.get(browser)
        self._runs[browser] = run
        return before is not None and before != run

    def park(self, browser: str) -> None:
        """Remember the owners of a browser's tabs while it is disconnected."""
        for tab in self._tabs.of_browser(browser):
            session = self._owners.get(tab.id)
            if session is not None:
                self._parked[self._place(tab)] = session

    def reclaim(self, tab: Tab) -> str | None:
        """Give a tab that is back to the session that owned it; returns that session."""
        session = self._parked.pop(self._place(tab), None)
        if session is not None:
            self.take(session, tab.id)
        return session

    def drop_parked(self, browser: str) -> None:
        """Forget the parked tabs of a browser that has listed all its tabs: they are closed."""
        self._parked = {p: owner for p, owner in self._parked.items() if p.browser != browser}

    def places(self, session: str) -> list[TabIdentity]:
        """The places of a session's tabs, connected or parked."""
        tabs = (self._tabs.find(tab) for tab in self.of(session))
        connected = [self._place(tab) for tab in tabs if tab is not None]
        return connected + [place for place, owner in self._parked.items() if owner == session]

    def restore(self, session: str, places: list[TabIdentity]) -> None:
        self._parked.update(dict.fromkeys(places, session))

    def on_change(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    def _place(self, tab: Tab) -> TabIdentity:
        return TabIdentity(tab.browser, self._runs.get(tab.browser, ""), tab.native_id)

    def _notify(self, session: str) -> None:
        for listener in self._listeners:
            listener(session)
