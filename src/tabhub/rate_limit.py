"""Limits how often something may happen within a sliding window of time.

Windows slide, since fixed ones would let twice the limit pass at their border. Refused attempts do
not count, so that a caller who waits gets through. No I/O: the clock is a parameter.
"""

from collections import deque
from collections.abc import Callable, Hashable
from math import ceil
from typing import Generic, TypeVar

Clock = Callable[[], float]
Key = TypeVar("Key", bound=Hashable)
MOST_KEYS = 1000


class RateLimit:
    """One limit; `most` may change while it is in use.

    With a grain, what happens within so many seconds is kept as one amount: a long window then
    needs little memory, and nothing leaves it too early, but up to one grain too late.
    """

    def __init__(self, most: float, seconds: float, clock: Clock, grain: float = 0.0) -> None:
        self.most = most
        self._seconds = seconds
        self._clock = clock
        self._grain = grain
        self._counted: deque[tuple[float, float]] = deque()
        """Time and amount of everything in the window, oldest first."""
        self._sum = 0.0

    def admit(self, amount: float = 1) -> float:
        """Count an amount and return 0; or, if there is no room, return the seconds to wait."""
        wait = self.wait(amount)
        if not wait:
            self.count(amount)
        return wait

    def wait(self, amount: float = 1) -> float:
        """How many seconds until there is room for an amount; 0 if there is room now."""
        now = self._forget_old()
        excess = self._sum + amount - self.most
        if excess <= 0:
            return 0.0
        for time, counted in self._counted:
            excess -= counted
            if excess <= 0:
                return time + self._seconds - now
        return self._seconds

    def count(self, amount: float = 1, ago: float = 0.0) -> None:
        """Count an amount, whether there is room or not; older ones must be counted first."""
        time, grain = self._clock() - ago, self._grain
        self._sum += amount
        if grain and self._counted:
            last, before = self._counted[-1]
            if 0 <= last - time < grain:
                self._counted[-1] = last, before + amount
                return
        self._counted.append((ceil(time / grain) * grain if grain else time, amount))

    @property
    def is_idle(self) -> bool:
        """Whether the window is empty."""
        self._forget_old()
        return not self._counted

    def _forget_old(self) -> float:
        now = self._clock()
        # The same sum as in `wait`, or rounding could let one pass too early.
        while self._counted and self._counted[0][0] + self._seconds <= now:
            self._sum -= self._counted.popleft()[1]
        return now


class Bucket:
    """A limit on a steady rate, with room for a burst; it needs no memory for what has happened."""

    def __init__(self, per_second: float, burst: float, clock: Clock) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._room = burst
        self._at = clock()

    def admit(self) -> float:
        """Count one and return 0; or, if there is no room, return the seconds to wait."""
        now = self._clock()
        self._room = min(self._burst, self._room + (now - self._at) * self._per_second)
        self._at = now
        if self._room < 1:
            return (1 - self._room) / self._per_second
        self._room -= 1
        return 0.0


class RateLimits(Generic[Key]):
    """The same limit for each of many keys; the idle keys, then the oldest, make room for new."""

    def __init__(
        self, most: float, seconds: float, clock: Clock, most_keys: int = MOST_KEYS
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._most_keys = most_keys
        self._limits: dict[Key, RateLimit] = {}

    def __len__(self) -> int:
        return len(self._limits)

    def admit(self, key: Key, most: float | None = None) -> float:
        """Like `RateLimit.admit`; `most` is the limit of this key, if it has its own."""
        limit = self._of(key)
        limit.most = self._most if most is None else most
        return limit.admit()

    def wait(self, key: Key) -> float:
        limit = self._limits.get(key)
        return 0.0 if limit is None else limit.wait()

    def count(self, key: Key) -> None:
        self._of(key).count()

    def forget(self, key: Key) -> None:
        self._limits.pop(key, None)

    def _of(self, key: Key) -> RateLimit:
        limit = self._limits.get(key)
        if limit is None:
            if len(self._limits) >= self._most_keys:
                self._make_room()
            limit = self._limits[key] = RateLimit(self._most, self._seconds, self._clock)
        return limit

    def _make_room(self) -> None:
        for key in [key for key, limit in self._limits.items() if limit.is_idle]:
            del self._limits[key]
        if len(self._limits) >= self._most_keys:
            del self._limits[next(iter(self._limits))]
