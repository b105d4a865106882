"""A flood of refused calls must not push out of the record what was done.

Of what one client tried in vain, so much is written in a minute. Of the rest there is one line
for each reason when the minute is over, which says how many there were.
"""

from typing import NamedTuple

from tabhub.calls.ports import Event

SECONDS = 60.0
WRITTEN = 300
"""How many lines of a minute and client are written."""


def did_nothing(event: Event) -> bool:
    """Whether an attempt failed and certainly had no effect."""
    return event.error is not None and event.error.effect == "none"


class Fold(NamedTuple):
    """Several events told as one: the last of them, and how many they were."""

    event: Event
    times: int


class _Minute:
    """What one client has tried in vain."""

    def __init__(self, began: float) -> None:
        self.ends = began + SECONDS
        self.written = 0
        self.folds: dict[str, Fold] = {}

    def add(self, event: Event) -> bool:
        """Whether this one is to be written by itself."""
        if self.written < WRITTEN:
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
    """The minutes of all clients. Knows no time but that of the events."""

    def __init__(self) -> None:
        self._minutes: dict[str, _Minute] = {}

    def admits(self, event: Event) -> bool:
        """Whether an event is to be written now; otherwise it is counted."""
        if not did_nothing(event):
            return True
        minute = self._minutes.get(event.client)
        if minute is None:
            minute = self._minutes[event.client] = _Minute(event.time)
        return minute.add(event)

    def over(self, now: float) -> list[Fold]:
        """What was counted in minutes that are over."""
        over = [client for client, minute in self._minutes.items() if minute.ends <= now]
        return [fold for client in over for fold in self._minutes.pop(client).take()]

    def take(self) -> list[Fold]:
        """What was counted until now; the minutes go on."""
        return [fold for minute in self._minutes.values() for fold in minute.take()]
