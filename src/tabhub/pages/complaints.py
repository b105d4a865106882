"""What is wrong with pages, told once: a page must not be able to fill the log or the record."""

import logging
from collections.abc import Callable

log = logging.getLogger(__name__)

SECONDS = 60.0
MOST = 1000
PER_DOMAIN = 10
IN_ALL = 200


class Complaints:
    """Logs each fault of a domain once a minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._told: dict[tuple[str, str], float] = {}

    def say(self, domain: str, what: str) -> bool:
        """Whether it was said, and not before."""
        now = self._clock()
        last = self._told.get((domain, what))
        if last is not None and now - last < SECONDS:
            return False
        self._forget(now)
        if len(self._told) >= MOST:
            return False
        self._told[domain, what] = now
        log.warning("%s: %s", domain, what)
        return True

    def _forget(self, now: float) -> None:
        """Those said longest ago are in front: a look at these is enough."""
        while self._told:
            oldest = next(iter(self._told))
            if now - self._told[oldest] < SECONDS:
                return
            del self._told[oldest]


class Allowance:
    """How many lines of the record pages may cause in a minute: each domain, and all."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = 0.0
        self._spent: dict[str, int] = {}
        self._total = 0

    def spend(self, domain: str) -> bool:
        now = self._clock()
        if now - self._began >= SECONDS:
            self._began, self._spent, self._total = now, {}, 0
        spent = self._spent.get(domain, 0)
        if spent >= PER_DOMAIN or self._total >= IN_ALL:
            return False
        self._spent[domain] = spent + 1
        self._total += 1
        return True
