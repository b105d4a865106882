"""A time limit for every call: cheaper than `asyncio.timeout`, and progress can extend it."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType

Progress = Callable[[float, float | None, str | None], Awaitable[None]]
"""Takes progress, total and a message."""


class Limit:
    """Cancels the task that enters it when the time is up, and raises TimeoutError."""

    def __init__(self, seconds: float, longest: float | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        self.usual = seconds
        """Without progress, unless `allow` has given more."""
        self.longest = seconds if longest is None else longest
        self._seconds = seconds
        self._is_late = False
        self._has_told = False
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> "Limit":
        task = asyncio.current_task(self.loop)
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        now = self.loop.time()
        self._first, self._last = now + self.usual, now + self.longest
        self._timer = self.loop.call_later(self._seconds, self._fire)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # A cancellation from outside takes precedence over the time limit.
        ours = self._is_late and self._task.uncancel() <= self._cancelling
        if ours and kind is asyncio.CancelledError:
            raise TimeoutError from error

    @property
    def left(self) -> float:
        """How many seconds are left, unless there is progress."""
        return 0.0 if self._timer is None else self._timer.when() - self.loop.time()

    @property
    def is_over(self) -> bool:
        """Whether the usual time has passed."""
        return self.loop.time() >= self._first

    def extend(self) -> bool:
        """Restart the limit from now, up to the longest time.

        Returns whether the work goes on beyond its first limit; only once.
        """
        self.reschedule(min(self.loop.time() + self._seconds, self._last))
        is_news = self.is_over and not self._has_told
        self._has_told = self._has_told or is_news
        return is_news

    def allow(self, seconds: float) -> None:
        """Let the work take so long without progress, up to the longest time."""
        self._seconds = max(self._seconds, seconds)
        self.extend()

    def reschedule(self, when: float) -> None:
        """End at another time; no effect once the limit is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = self.loop.call_at(when, self._fire)

    def _fire(self) -> None:
        self._is_late = True
        self._task.cancel()
