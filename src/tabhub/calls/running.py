"""Calls under way, so that a person can end them."""

import asyncio
from collections.abc import Callable
from types import TracebackType

from tabhub.errors import TabhubError


class Flight:
    """One call while it runs; ended by a person, it fails with the error given."""

    def __init__(self, flights: set["Flight"], session: str, tab: int | None) -> None:
        self.session = session
        self.tab = tab
        self._flights = flights
        self._error: TabhubError | None = None

    def __enter__(self) -> "Flight":
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._flights.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._flights.discard(self)
        if self._error is None:
            return
        # It may have finished before the cancellation reached it; the person's word counts.
        others = self._task.uncancel()
        if kind is None or (kind is asyncio.CancelledError and others == 0):
            raise self._error from None

    def end(self, error: TabhubError) -> None:
        if self._error is None:
            self._error = error
            self._task.cancel()


class Flights:
    """Every call under way."""

    def __init__(self) -> None:
        self._all: set[Flight] = set()

    def __len__(self) -> int:
        return len(self._all)

    def has(self, session: str) -> bool:
        return self.count(session) > 0

    def count(self, session: str) -> int:
        return sum(flight.session == session for flight in self._all)

    def begin(self, session: str, tab: int | None) -> Flight:
        return Flight(self._all, session, tab)

    def end(self, error: TabhubError, which: Callable[[Flight], bool]) -> int:
        """End those that fit; how many there were."""
        ended = [flight for flight in self._all if which(flight)]
        for flight in ended:
            flight.end(error)
        return len(ended)
