"""How often somebody may do something: sliding windows of a minute. No I/O, no clock of its own."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from tabhub.config.clients import Client
from tabhub.config.settings import RateSettings
from tabhub.errors import Unavailable

SECONDS = 60.0
MOST_KEYS = 1000
"""Of one kind that are remembered; there are few credentials, and sessions come and go."""


class Window:
    """What one key has done in the last minute."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()
        self.told = float("-inf")
        """When it was last written down that it does too much."""

    def admit(self, now: float, limit: int) -> float:
        """Count one more, or say in how many seconds there is room for one."""
        self._forget(now)
        if len(self._times) < limit:
            self._times.append(now)
            return 0.0
        return min(self._times[-limit] + SECONDS - now, SECONDS)

    def is_empty(self, now: float) -> bool:
        self._forget(now)
        return not self._times

    def _forget(self, now: float) -> None:
        while self._times and self._times[0] <= now - SECONDS:
            self._times.popleft()


class Refusal(NamedTuple):
    """Who was refused what, for the record."""

    client: Client
    kind: str
    error: Unavailable


class Rates:
    """Every window there is: sessions and administration by credential, messages by session."""

    def __init__(
        self,
        settings: Callable[[], RateSettings],
        clock: Callable[[], float],
        tell: Callable[[Refusal], None],
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._tell = tell
        self._windows: dict[tuple[str, str], Window] = {}
        self.refused: dict[str, int] = {"session": 0, "admin": 0, "message": 0}
        """How many of each kind there were too many."""

    def session(self, client: Client) -> None:
        """A client opens a session."""
        rates = self._settings()
        limit = rates.sessions_per_minute
        if not client.is_person:
            limit = rates.client_sessions_per_minute
        self._count("session", client.name, client, limit)

    def admin(self, client: Client) -> None:
        self._count("admin", client.name, client, self._settings().admin_per_minute)

    def message(self, client: Client, session: str) -> None:
        """A client of the SSE surface posts a message."""
        self._count("message", session, client, self._settings().messages_per_minute)

    def forget(self, session: str) -> None:
        self._windows.pop(("message", session), None)

    def _count(self, kind: str, key: str, client: Client, limit: int) -> None:
        if limit == 0:
            return
        now = self._clock()
        window = self._windows.get((kind, key)) or self._new(kind, key, now)
        wait = window.admit(now, limit)
        if not wait:
            return
        self.refused[kind] += 1
        error = too_often(limit, kind, wait)
        # Once a minute, or the record would be flooded by what was refused.
        if now - window.told >= SECONDS:
            window.told = now
            self._tell(Refusal(client, kind, error))
        raise error

    def _new(self, kind: str, key: str, now: float) -> Window:
        if len(self._windows) >= MOST_KEYS:
            self._make_room(now)
        window = self._windows[kind, key] = Window()
        return window

    def _make_room(self, now: float) -> None:
        """Those that did nothing go; if all did something, the oldest."""
        for key in [key for key, window in self._windows.items() if window.is_empty(now)]:
            del self._windows[key]
        if len(self._windows) >= MOST_KEYS:
            del self._windows[next(iter(self._windows))]


_NAMES = {
    "session": "new sessions",
    "admin": "requests to administration",
    "message": "messages in one session",
}


def too_often(limit: int, kind: str, wait: float) -> Unavailable:
    return Unavailable(
        f"That is more than {limit} {_NAMES[kind]} a minute. Wait, and try again.",
        "rate_limited",
        data={"retryAfterMs": int(wait * 1000) + 1},
    )
