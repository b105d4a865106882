"""Calls under way, so that a person can end them."""

import asyncio
from collections.abc import Callable
from types import TracebackType

from tabhub.calls.call import Call
from tabhub.errors import TabhubError


class RunningCall:
    """One call while it runs; ended by a person, it fails with the error given."""

    __slots__ = ("_error", "_running", "_task", "call")

    def __init__(self, running: set["RunningCall"], call: Call) -> None:
        self.call = call
        self._running = running
        self._error: TabhubError | None = None

    def is_in(self, tab: int) -> bool:
        return self.call.tab is not None and self.call.tab.id == tab

    def __enter__(self) -> "RunningCall":
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._running.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._running.discard(self)
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


class RunningCalls:
    """Every call under way."""

    def __init__(self) -> None:
        self._all: set[RunningCall] = set()

    def __len__(self) -> int:
        return len(self._all)

    def has(self, session: str) -> bool:
        return self.count(session) > 0

    def count(self, session: str) -> int:
        return sum(running.call.session == session for running in self._all)

    def begin(self, call: Call) -> RunningCall:
        return RunningCall(self._all, call)

    def end(self, error: TabhubError, which: Callable[[RunningCall], bool]) -> int:
        """End those that fit; how many there were."""
        ended = [running for running in self._all if which(running)]
        for running in ended:
            running.end(error)
        return len(ended)
