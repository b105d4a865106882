"""What is wrong with pages, told once: a page must not be able to fill the log or the record."""

import logging

from tabhub.rate_limit import Clock, RateLimit, RateLimits

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
