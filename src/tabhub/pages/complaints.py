"""What is wrong with pages, told once: a page must not be able to fill the log or the record."""

import logging
from collections.abc import Callable

log = logging.getLogger(__name__)

SECONDS = 60.0
FAULTS_OF_ONE, FAULTS_IN_ALL = 60, 1000
"""What is logged in a minute of one domain (a list with 50 unfit tools, and more), and of all."""
PER_DOMAIN = 10
IN_ALL = 200


class Complaints:
    """Logs each fault of a domain once a minute, and of no domain too many."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = 0.0
        self._told: dict[str, set[str]] = {}
        self._total = 0

    def say(self, domain: str, what: str) -> bool:
        """Whether it was said, and not before."""
        now = self._clock()
        if now - self._began >= SECONDS:
            self._began, self._told, self._total = now, {}, 0
        told = self._told.get(domain, ())
        if what in told or len(told) >= FAULTS_OF_ONE or self._total >= FAULTS_IN_ALL:
            return False
        self._told.setdefault(domain, set()).add(what)
        self._total += 1
        log.warning("%s: %s", domain, what)
        return True


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
