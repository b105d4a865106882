"""The tabs of every connected browser, under ids that are unique among them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

from tabhub.errors import NotFound

LONGEST_NUMBER = 18
"""How many digits the number of a tab may have."""
MINTED_FROM = 1_000_000_000_000
"""Ids of our own are far above those that browsers use."""


@dataclass(frozen=True)
class Tab:
    """One tab of one browser."""

    id: int
    browser: str
    native_id: int
    url: str = ""
    title: str = ""
    active: bool = False
    focused_window: bool = False
    window_id: int = 0
    index: int = 0
    status: str = "complete"
    group_id: int | None = None
    worker_id: str = ""
    """The page worker's id of the tab; empty if its page has none."""
    worker_origin: str = ""
    """The paired origin of a tab that only its page worker reaches; empty for a browser's tab."""

    @property
    def key(self) -> int | str:
        """The id that agents see: the number, or the page worker's id if no browser reported it."""
        return self.id if self.browser or not self.worker_id else self.worker_id


Change = Literal["opened", "updated", "closed"]


def as_number(text: str) -> int | None:
    """The number that a text spells; shells, and sometimes models, send numbers as text."""
    is_number = text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER
    return int(text) if is_number else None


class Tabs:
    """Every tab, by our id and by the browser's; listeners get every change."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Change, int], None]] = []
        self._by_id: dict[int, Tab] = {}
        self._ids: dict[tuple[str, int], int] = {}
        self._minted = count(MINTED_FROM)

    def __len__(self) -> int:
        return len(self._by_id)

    def all(self) -> list[Tab]:
        return list(self._by_id.values())

    def of_browser(self, browser: str) -> list[Tab]:
        return [tab for tab in self._by_id.values() if tab.browser == browser]

    def get(self, id: int) -> Tab:
        tab = self._by_id.get(id)
        if tab is None:
            raise self.missing(id)
        return tab

    def missing(self, id: int | str) -> NotFound:
        return NotFound(f"There is no tab {id}. {self._known()}", "tab_not_found")

    def find(self, id: int) -> Tab | None:
        return self._by_id.get(id)

    def by_native(self, browser: str, native_id: int) -> Tab | None:
        id = self._ids.get((browser, native_id))
        return None if id is None else self._by_id[id]

    def put(self, tab: Tab) -> Tab:
        """Add or update a tab; its id is assigned here."""
        key = (tab.browser, tab.native_id)
        id = self._ids.get(key)
        if id is None:
            id = tab.native_id if tab.native_id not in self._by_id else next(self._minted)
            self._ids[key] = id
        before = self._by_id.get(id)
        worker_id = before.worker_id if before else tab.worker_id
        known = self._by_id[id] = replace(tab, id=id, worker_id=worker_id)
        if known.active and not (before and before.active):
            self._hide_others(known)
        if before is None:
            self._notify("opened", id)
        elif before != known:
            self._notify("updated", id)
        return known

    def join(self, id: int, worker_id: str) -> None:
        """Set the page worker's id of a tab; an empty one removes it."""
        tab = self._by_id.get(id)
        if tab is not None and tab.worker_id != worker_id:
            self._by_id[id] = replace(tab, worker_id=worker_id)

    def by_worker(self, worker_id: str) -> Tab | None:
        """The only tab with that id; None if several claim it, since pages choose these ids."""
        found = [tab for tab in self._by_id.values() if worker_id and tab.worker_id == worker_id]
        return found[0] if len(found) == 1 else None

    def number_of(self, text: str) -> int | None:
        """The number of the tab that a text names: by digits, or by the page worker's id."""
        number = as_number(text)
        tab = self.by_worker(text) if number is None else None
        return number if tab is None else tab.id

    def mint(self) -> int:
        """A new id that no browser uses."""
        return next(self._minted)

    def _hide_others(self, active: Tab) -> None:
        """Mark the window's other tabs as inactive: a window shows one tab."""
        for tab in self.of_browser(active.browser):
            if tab.active and tab.window_id == active.window_id and tab.id != active.id:
                self._by_id[tab.id] = replace(tab, active=False)
                self._notify("updated", tab.id)

    def remove(self, browser: str, native_id: int) -> int | None:
        """Forget a closed tab; returns its id."""
        id = self._ids.pop((browser, native_id), None)
        if id is not None:
            del self._by_id[id]
            self._notify("closed", id)
        return id

    def rename(self, browser: str, old_native_id: int, new_native_id: int) -> int | None:
        """Keep our id of a tab whose number has changed: the browser discarded and restored it.

        Returns the id that the tab got in between, if it was taken for a new one.
        """
        if old_native_id == new_native_id or (browser, old_native_id) not in self._ids:
            return None
        other = self.remove(browser, new_native_id)
        id = self._ids.pop((browser, old_native_id))
        self._ids[(browser, new_native_id)] = id
        self._by_id[id] = replace(self._by_id[id], native_id=new_native_id)
        return other

    def sync(self, browser: str, tabs: Iterable[Tab]) -> list[int]:
        """Adopt a browser's full list; returns the ids of the tabs that have closed."""
        current = list(tabs)
        numbers = {tab.native_id for tab in current}
        closed = [tab for tab in self.of_browser(browser) if tab.native_id not in numbers]
        for tab in current:
            self.put(tab)
        return [id for tab in closed if (id := self.remove(browser, tab.native_id)) is not None]

    def on_change(self, listener: Callable[[Change, int], None]) -> None:
        self._listeners.append(listener)

    def _notify(self, change: Change, id: int) -> None:
        for listener in self._listeners:
            listener(change, id)

    def _known(self) -> str:
        if not self._by_id:
            return "No browser tab is open; browser_open_tab opens one."
        some = ", ".join(str(id) for id in list(self._by_id)[:20])
        return f"Open tabs: {some}."
