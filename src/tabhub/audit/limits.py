"""What keeps one client from filling the audit log: a budget of bytes, and folded refusals."""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from tabhub.audit.entry import ENTRY_BYTES, REFUSED_BYTES, did_nothing
from tabhub.audit.files import Head
from tabhub.calls.ports import AuditEvent, Clock
from tabhub.config.clients import MAIN, PAGE
from tabhub.errors import Unavailable
from tabhub.rate_limit import RateLimit

DAY_SECONDS = 24 * 60 * 60.0
GRAIN_SECONDS = 600.0
HELD_BYTES = ENTRY_BYTES + REFUSED_BYTES
"""What a running call may still write: its beginning and its end."""
FOLD_SECONDS = 60.0
UNFOLDED = 300
"""How many entries of one client without effect are written in that time; more are folded."""
FOLD_SECONDS_OVER_BUDGET = 60 * 60.0
UNFOLDED_OF_SITE = 10
"""How many registrations of one site's pages are written in that time; more are folded."""
MOST_SITES = 1000
"""Sites whose registrations are folded apart from each other."""

IsOver = Callable[[str], bool]
"""Whether a client has used up its budget."""


class Budget:
    """How much each client has added to the log within a day, and what its calls may still add.

    Clients have their names from the person, so there are few of them and none is forgotten.
    """

    def __init__(self, most: Callable[[], int], clock: Clock) -> None:
        self._most = most
        self._clock = clock
        self._used: dict[str, RateLimit] = {}
        self._running: Counter[str] = Counter()

    def add(self, client: str, size: int, ago: float = 0.0) -> None:
        """Count a line, whether there is room or not; older lines must be counted first."""
        used = self._used.get(client)
        if used is None:
            used = self._used[client] = RateLimit(0, DAY_SECONDS, self._clock, GRAIN_SECONDS)
        used.count(size, ago)

    def is_over(self, client: str) -> bool:
        return self._wait(client, HELD_BYTES) > 0

    def room(self, client: str) -> "Room":
        """Hold what one call may write, for as long as it runs."""
        running = self._running[client]
        if not self._wait(client, HELD_BYTES * (running + 1)):
            return Room(self._running, client)
        wait = self._wait(client, HELD_BYTES)
        raise _over_budget(self._most(), wait) if wait else _too_many(running)

    def _wait(self, client: str, size: int) -> float:
        most, used = self._most(), self._used.get(client)
        if most == 0:
            return 0.0
        if used is None:
            return DAY_SECONDS if size > most else 0.0
        used.most = most
        return used.wait(size)


class Room:
    """What one running call of a client may write."""

    __slots__ = ("_client", "_running")

    def __init__(self, running: Counter[str], client: str) -> None:
        self._running = running
        self._client = client

    def __enter__(self) -> None:
        self._running[self._client] += 1

    def __exit__(self, *fault: object) -> None:
        self._running[self._client] -= 1


def _over_budget(most: int, wait: float) -> Unavailable:
    return Unavailable(
        f"The calls of this client have added {most} bytes to the audit log within a day, which is "
        f"its limit (audit.clientBytesPerDay). Nothing was done. There is room again in "
        f"{int(wait) + 1} seconds, or when the person raises the limit.",
        "rate_limited",
        data={"retryAfterMs": int(wait * 1000) + 1},
    )


def _too_many(running: int) -> Unavailable:
    return Unavailable(
        f"{running} calls of this client are still running, and the audit log has no room for "
        "more of them. Nothing was done. Wait for them.",
        "too_many_calls",
    )


class Fold(NamedTuple):
    """Several events in one entry: the last of them, and their number."""

    event: AuditEvent
    times: int


class _Minute:
    """What one client did without effect in one minute; in an hour, once it is over budget."""

    def __init__(self, began: float, is_over: bool, unfolded: int) -> None:
        self.ends = began + (FOLD_SECONDS_OVER_BUDGET if is_over else FOLD_SECONDS)
        # The first one is written at once, so that the log shows it.
        self.left = 1 if is_over else unfolded
        self.folds: dict[str, Fold] = {}

    def add(self, event: AuditEvent) -> bool:
        """Whether the event gets an entry of its own; otherwise it is folded."""
        if self.left:
            self.left -= 1
            return True
        kind = event.error.reason if event.error is not None else event.tool
        before = self.folds.get(kind)
        self.folds[kind] = Fold(event, 1 if before is None else before.times + 1)
        return False

    def take(self) -> list[Fold]:
        folds, self.folds = list(self.folds.values()), {}
        return folds


def payer_of(by: AuditEvent | Head) -> str:
    """Whose budget a line counts against; a client that is called "page" does not pay for pages."""
    if by.client != PAGE:
        return by.client
    return f"{PAGE} of the web" if _is_of_page(by) else by.client


def _is_of_page(by: AuditEvent | Head) -> bool:
    return by.client == PAGE and not by.session


class Folding:
    """Keeps a client that only fails from filling the log. Its clock is the time of the events."""

    def __init__(self) -> None:
        self._minutes: dict[tuple[str, str], _Minute] = {}
        """By the client, or for pages by their site."""

    def admits(self, event: AuditEvent, is_over: IsOver) -> bool:
        """Whether an event is written now; otherwise it is folded."""
        # A call whose beginning was written has its end there too.
        if event.call or not _can_fold(event, is_over):
            return True
        payer, is_of_page = payer_of(event), _is_of_page(event)
        site = event.plugin if is_of_page and len(self._minutes) < MOST_SITES else ""
        minute = self._minutes.get((payer, site))
        if minute is None:
            unfolded = UNFOLDED_OF_SITE if is_of_page else UNFOLDED
            minute = _Minute(event.time, is_over(payer), unfolded)
            self._minutes[payer, site] = minute
        return minute.add(event)

    def over(self, now: float) -> list[Fold]:
        """Take the folds of minutes that are over."""
        if not self._minutes:
            return []
        over = [client for client, minute in self._minutes.items() if minute.ends <= now]
        return [fold for client in over for fold in self._minutes.pop(client).take()]

    def take(self) -> list[Fold]:
        """Take all folds; the minutes continue."""
        return [fold for minute in self._minutes.values() for fold in minute.take()]


def _can_fold(event: AuditEvent, is_over: IsOver) -> bool:
    """Whether an event need not have a line of its own.

    A call that had an effect always has one. What pages cause is no call and cannot be refused:
    where there is too much, its number is kept.
    """
    is_call = event.session or event.client == MAIN.name
    is_too_much = not is_call and is_over(payer_of(event))
    return did_nothing(event) or _is_of_page(event) or is_too_much
