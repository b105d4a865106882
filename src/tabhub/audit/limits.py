"""What keeps one client from filling the audit log."""

from typing import NamedTuple

from tabhub.audit.entry import did_nothing
from tabhub.calls.ports import AuditEvent

FOLD_SECONDS = 60.0
UNFOLDED = 300
"""How many entries of one client without effect are written in that time; more are folded."""


class Fold(NamedTuple):
    """Several events in one entry: the last of them, and their number."""

    event: AuditEvent
    times: int


class _Minute:
    """The calls without effect of one client in one minute."""

    def __init__(self, began: float) -> None:
        self.ends = began + FOLD_SECONDS
        self.written = 0
        self.folds: dict[str, Fold] = {}

    def add(self, event: AuditEvent) -> bool:
        """Whether the event gets an entry of its own; otherwise it is folded."""
        if self.written < UNFOLDED:
            self.written += 1
            return True
        reason = event.error.reason if event.error is not None else ""
        before = self.folds.get(reason)
        self.folds[reason] = Fold(event, 1 if before is None else before.times + 1)
        return False

    def take(self) -> list[Fold]:
        folds, self.folds = list(self.folds.values()), {}
        return folds


class Folding:
    """Keeps a client that only fails from filling the log. Its clock is the time of the events."""

    def __init__(self) -> None:
        self._minutes: dict[str, _Minute] = {}

    def admits(self, event: AuditEvent) -> bool:
        """Whether an event is written now; otherwise it is folded."""
        if not did_nothing(event):
            return True
        minute = self._minutes.get(event.client)
        if minute is None:
            minute = self._minutes[event.client] = _Minute(event.time)
        return minute.add(event)

    def over(self, now: float) -> list[Fold]:
        """Take the folds of minutes that are over."""
        over = [client for client, minute in self._minutes.items() if minute.ends <= now]
        return [fold for client in over for fold in self._minutes.pop(client).take()]

    def take(self) -> list[Fold]:
        """Take all folds; the minutes continue."""
        return [fold for minute in self._minutes.values() for fold in minute.take()]
