"""The tabs of every connected browser, under ids that are unique among them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

from tabhub.errors import NotFound

LONGEST_NUMBER = 18
"""Digits: more are no number of a tab."""
MINTED_FROM = 1_000_000_000_000
"""Ids we make up ourselves lie far above the ones browsers give."""


@dataclass(frozen=True)
class Tab:
    """One page in one browser."""

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
    """What the page worker library calls it, if its page uses that."""

    @property
    def key(self) -> int | str:
        """What agents call it: a tab that no browser has told of has its page's name for it."""
        return self.id if self.browser or not self.worker_id else self.worker_id


Change = Literal["opened", "updated", "closed"]


def as_number(word: str) -> int | None:
    """A number that was written as text, as shells and models do now and then."""
    is_number = word.isascii() and word.isdigit() and len(word) <= LONGEST_NUMBER
    return int(word) if is_number else None


class Tabs:
    """Every tab there is, by our id and by the browser's own; every change is told."""

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
        """Learn of a tab, or of its new state; `tab.id` is set here."""
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
            self._tell("opened", id)
        elif before != known:
            self._tell("updated", id)
        return known

    def join(self, id: int, worker_id: str) -> None:
        """A page has told what the page worker library calls its tab; empty: nothing."""
        tab = self._by_id.get(id)
        if tab is not None and tab.worker_id != worker_id:
            self._by_id[id] = replace(tab, worker_id=worker_id)

    def by_worker(self, worker_id: str) -> Tab | None:
        """The one tab of that id; pages make these up, so where two have it none is meant."""
        found = [tab for tab in self._by_id.values() if worker_id and tab.worker_id == worker_id]
        return found[0] if len(found) == 1 else None

    def number_of(self, word: str) -> int | None:
        """The number that a text stands for: digits, or an id of the page worker."""
        number = as_number(word)
        tab = self.by_worker(word) if number is None else None
        return number if tab is None else tab.id

    def mint(self) -> int:
        """A number that no browser gives."""
        return next(self._minted)

    def _hide_others(self, shown: Tab) -> None:
        """A window shows one tab: its others are active no more."""
        for tab in self.of_browser(shown.browser):
            if tab.active and tab.window_id == shown.window_id and tab.id != shown.id:
                self._by_id[tab.id] = replace(tab, active=False)
                self._tell("updated", tab.id)

    def remove(self, browser: str, native_id: int) -> int | None:
        """Forget a closed tab; its public id, if it had one."""
        id = self._ids.pop((browser, native_id), None)
        if id is not None:
            del self._by_id[id]
            self._tell("closed", id)
        return id

    def rename(self, browser: str, old_native_id: int, new_native_id: int) -> int | None:
        """A browser gave a tab a new number (it was discarded and revived); ours stays.

        Returns the id under which it was learned of as if it were another tab.
        """
        if old_native_id == new_native_id or (browser, old_native_id) not in self._ids:
            return None
        other = self.remove(browser, new_native_id)
        id = self._ids.pop((browser, old_native_id))
        self._ids[(browser, new_native_id)] = id
        self._by_id[id] = replace(self._by_id[id], native_id=new_native_id)
        return other

    def sync(self, browser: str, tabs: Iterable[Tab]) -> list[int]:
        """Take a browser's full list; returns the ids of the tabs that have gone."""
        told = list(tabs)
        present = {tab.native_id for tab in told}
        gone = [t for t in self.of_browser(browser) if t.native_id not in present]
        for tab in told:
            self.put(tab)
        return [id for t in gone if (id := self.remove(browser, t.native_id)) is not None]

    def on_change(self, listener: Callable[[Change, int], None]) -> None:
        self._listeners.append(listener)

    def _tell(self, change: Change, id: int) -> None:
        for listener in self._listeners:
            listener(change, id)

    def _known(self) -> str:
        if not self._by_id:
            return "No browser tab is open; browser_open_tab opens one."
        some = ", ".join(str(id) for id in list(self._by_id)[:20])
        return f"Open tabs: {some}."
