"""Pages that talk too much: what they said last counts, a little later."""

from collections.abc import Callable
from typing import Generic, TypeVar

Later = Callable[[float, Callable[[], None]], object]
WINDOW_SECONDS = 5.0
BURST = 20
"""How many messages of one tab are taken at once in a window."""
MOST_WAITING = 500
Item = TypeVar("Item")


class _Window(Generic[Item]):
    def __init__(self, began: float) -> None:
        self.began = began
        self.taken = 0
        self.waiting: dict[object, Item] = {}


class Throttle(Generic[Item]):
    """Takes items at once until a tab has sent too many; then only the latest of each page."""

    def __init__(
        self, take: Callable[[Item], None], clock: Callable[[], float], later: Later
    ) -> None:
        self._take = take
        self._clock = clock
        self._later = later
        self._windows: dict[object, _Window[Item]] = {}

    def put(self, tab: object, page: object, item: Item) -> bool:
        """Whether it was taken at once."""
        window = self._window(tab)
        if window.taken < BURST:
            window.taken += 1
            self._take(item)
            return True
        if not window.waiting:
            left = window.began + WINDOW_SECONDS - self._clock()
            self._later(max(left, 0.0), lambda: self._flush(tab))
        if page in window.waiting or len(window.waiting) < MOST_WAITING:
            window.waiting[page] = item
        return False

    def waiting(self, tab: object, page: object) -> Item | None:
        window = self._windows.get(tab)
        return None if window is None else window.waiting.get(page)

    def drop(self, tab: object, page: object) -> None:
        window = self._windows.get(tab)
        if window is not None:
            window.waiting.pop(page, None)

    def forget(self, now: float) -> None:
        """Windows that are over."""
        old = [
            tab
            for tab, window in self._windows.items()
            if not window.waiting and now - window.began > WINDOW_SECONDS
        ]
        for tab in old:
            del self._windows[tab]

    def _window(self, tab: object) -> _Window[Item]:
        now = self._clock()
        window = self._windows.get(tab)
        if window is None or (not window.waiting and now - window.began > WINDOW_SECONDS):
            window = self._windows[tab] = _Window(now)
        return window

    def _flush(self, tab: object) -> None:
        window = self._windows.pop(tab, None)
        for item in window.waiting.values() if window else ():
            self._take(item)
