"""Limits for pages that send too much: of messages, and of lines in the log."""

import logging
from collections.abc import Callable
from typing import Generic, TypeVar

from tabhub.rate_limit import Clock, RateLimit, RateLimits

log = logging.getLogger(__name__)

WINDOW_SECONDS = 5.0
BURST = 20
"""How many messages of one tab are taken without delay in such a window."""
MOST_WAITING = 500

SECONDS = 60.0
FAULTS_OF_ONE, FAULTS_IN_ALL = 60, 1000
"""Faults logged in a minute, of one domain and of all; a list can have 50 unfit tools."""

Later = Callable[[float, Callable[[], None]], object]
Item = TypeVar("Item")


class _Tab(Generic[Item]):
    """The rate limit of one tab, and its waiting messages by page."""

    def __init__(self, clock: Clock) -> None:
        self.limit = RateLimit(BURST, WINDOW_SECONDS, clock)
        self.waiting: dict[object, Item] = {}


class Throttle(Generic[Item]):
    """Passes items on until a tab has sent too many; then only the latest of each page, later."""

    def __init__(self, take: Callable[[Item], None], clock: Clock, later: Later) -> None:
        self._take = take
        self._clock = clock
        self._later = later
        self._tabs: dict[object, _Tab[Item]] = {}

    def put(self, tab: object, page: object, item: Item) -> bool:
        """Take an item; returns whether it was passed on without delay."""
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
        for tab, sender in list(self._tabs.items()):
            if not sender.waiting and sender.limit.is_idle:
                del self._tabs[tab]

    def _flush(self, tab: object) -> None:
        sender = self._tabs.pop(tab, None)
        for item in sender.waiting.values() if sender else ():
            self._take(item)


class FaultLog:
    """Logs each fault of a domain at most once a minute, and a bounded number for each domain."""

    def __init__(self, clock: Clock) -> None:
        self._faults: RateLimits[tuple[str, str]] = RateLimits(1, SECONDS, clock, FAULTS_IN_ALL)
        self._domains: RateLimits[str] = RateLimits(FAULTS_OF_ONE, SECONDS, clock, FAULTS_IN_ALL)
        self._all = RateLimit(FAULTS_IN_ALL, SECONDS, clock)

    def add(self, domain: str, text: str) -> bool:
        """Log a fault unless a limit is reached; returns whether it was logged."""
        fault = (domain, text)
        if self._faults.wait(fault) or self._domains.wait(domain) or self._all.wait():
            return False
        self._faults.count(fault)
        self._domains.count(domain)
        self._all.count()
        log.warning("%s: %s", domain, text)
        return True
