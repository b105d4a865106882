"""Pages that talk too much: what they said last counts, a little later."""

import logging
from collections.abc import Callable
from typing import Generic, TypeVar

from tabhub.rate_limit import Clock, RateLimit, RateLimits

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


log = logging.getLogger(__name__)

SECONDS = 60.0
FAULTS_OF_ONE, FAULTS_IN_ALL = 60, 1000
"""What is logged in a minute of one domain (a list with 50 unfit tools, and more), and of all."""
PER_DOMAIN = 10
IN_ALL = 200


class Complaints:
    """Logs each fault of a domain once a minute, and of no domain too many."""

    def __init__(self, clock: Clock) -> None:
        self._faults: RateLimits[tuple[str, str]] = RateLimits(1, SECONDS, clock, FAULTS_IN_ALL)
        self._domains: RateLimits[str] = RateLimits(FAULTS_OF_ONE, SECONDS, clock, FAULTS_IN_ALL)
        self._all = RateLimit(FAULTS_IN_ALL, SECONDS, clock)

    def say(self, domain: str, what: str) -> bool:
        """Log it, unless it was logged within the last minute; whether it was logged now."""
        fault = (domain, what)
        if self._faults.wait(fault) or self._domains.wait(domain) or self._all.wait():
            return False
        self._faults.count(fault)
        self._domains.count(domain)
        self._all.count()
        log.warning("%s: %s", domain, what)
        return True


class Allowance:
    """How many lines of the audit pages may cause in a minute: each domain, and all."""

    def __init__(self, clock: Clock) -> None:
        self._domains: RateLimits[str] = RateLimits(PER_DOMAIN, SECONDS, clock, IN_ALL)
        self._all = RateLimit(IN_ALL, SECONDS, clock)

    def spend(self, domain: str) -> bool:
        if self._domains.wait(domain) or self._all.wait():
            return False
        self._domains.count(domain)
        self._all.count()
        return True
