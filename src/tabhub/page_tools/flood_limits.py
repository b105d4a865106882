"""Pages that talk too much: what they said last counts, a little later."""

from collections.abc import Callable
from typing import Generic, TypeVar

from tabhub.rate_limit import Clock, RateLimit

Later = Callable[[float, Callable[[], None]], object]
WINDOW_SECONDS = 5.0
BURST = 20
"""How many messages of one tab are taken at once within so many seconds."""
MOST_WAITING = 500
Item = TypeVar("Item")


class _Tab(Generic[Item]):
    """What one tab has sent lately, and what of it waits, by page."""

    def __init__(self, clock: Clock) -> None:
        self.limit = RateLimit(BURST, WINDOW_SECONDS, clock)
        self.waiting: dict[object, Item] = {}


class Throttle(Generic[Item]):
    """Takes items at once until a tab has sent too many; then only the latest of each page."""

    def __init__(self, take: Callable[[Item], None], clock: Clock, later: Later) -> None:
        self._take = take
        self._clock = clock
        self._later = later
        self._tabs: dict[object, _Tab[Item]] = {}

    def put(self, tab: object, page: object, item: Item) -> bool:
        """Whether it was taken at once."""
        sender = self._tabs.get(tab)
        if sender is None:
            sender = self._tabs[tab] = _Tab(self._clock)
        if not sender.waiting:
            wait = sender.limit.admit()
            if not wait:
                self._take(item)
                return True
            self._later(wait, lambda: self._flush(tab))
        if page in sender.waiting or len(sender.waiting) < MOST_WAITING:
            sender.waiting[page] = item
        return False

    def waiting(self, tab: object, page: object) -> Item | None:
        sender = self._tabs.get(tab)
        return None if sender is None else sender.waiting.get(page)

    def drop(self, tab: object, page: object) -> None:
        sender = self._tabs.get(tab)
        if sender is not None:
            sender.waiting.pop(page, None)

    def forget_idle(self) -> None:
        """Forget the tabs that have sent nothing lately."""
        idle = [tab for tab, one in self._tabs.items() if not one.waiting and one.limit.is_idle]
        for tab in idle:
            del self._tabs[tab]

    def _flush(self, tab: object) -> None:
        sender = self._tabs.pop(tab, None)
        for item in sender.waiting.values() if sender else ():
            self._take(item)
