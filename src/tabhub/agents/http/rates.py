"""How many sessions, messages and administration requests a client may start in a minute."""

from collections.abc import Callable
from typing import NamedTuple

from tabhub.config.clients import Client
from tabhub.config.settings import RateSettings
from tabhub.errors import Unavailable
from tabhub.rate_limit import RateLimits

SECONDS = 60.0
MOST_KEYS = 1000
"""How many credentials and sessions are counted at once."""
_NAMES = {
    "session": "new sessions",
    "admin": "requests to administration",
    "message": "messages in one session",
}


class Refusal(NamedTuple):
    """What was refused to which client, for the audit log."""

    client: Client
    kind: str
    error: Unavailable


class Rates:
    """Counts sessions and administration requests by client, and messages by session."""

    def __init__(
        self,
        settings: Callable[[], RateSettings],
        clock: Callable[[], float],
        report: Callable[[Refusal], None],
    ) -> None:
        self._settings = settings
        self._report = report
        self._limits: RateLimits[tuple[str, str]] = RateLimits(0, SECONDS, clock, MOST_KEYS)
        self._reports: RateLimits[tuple[str, str]] = RateLimits(1, SECONDS, clock, MOST_KEYS)
        self.refused: dict[str, int] = {"session": 0, "admin": 0, "message": 0}
        """How many of each kind were refused."""

    def session(self, client: Client) -> None:
        """Count a new session."""
        rates = self._settings()
        limit = rates.sessions_per_minute
        if not client.is_person:
            limit = rates.client_sessions_per_minute
        self._count("session", client.name, client, limit)

    def admin(self, client: Client) -> None:
        self._count("admin", client.name, client, self._settings().admin_per_minute)

    def message(self, client: Client, session: str) -> None:
        """Count a message that is posted to HTTP+SSE."""
        self._count("message", session, client, self._settings().messages_per_minute)

    def forget(self, session: str) -> None:
        self._limits.forget(("message", session))
        self._reports.forget(("message", session))

    def _count(self, kind: str, key: str, client: Client, limit: int) -> None:
        if limit == 0:
            return
        wait = self._limits.admit((kind, key), limit)
        if not wait:
            return
        self.refused[kind] += 1
        error = too_often(limit, kind, wait)
        # Once a minute, or refusals would flood the audit log.
        if not self._reports.admit((kind, key)):
            self._report(Refusal(client, kind, error))
        raise error


def too_often(limit: int, kind: str, wait: float) -> Unavailable:
    return Unavailable(
        f"That is more than {limit} {_NAMES[kind]} a minute. Wait, and try again.",
        "rate_limited",
        data={"retryAfterMs": int(wait * 1000) + 1},
    )
