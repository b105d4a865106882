"""How much may come in a while: a bucket that fills up again. No clock of its own."""

from collections.abc import Callable


class Pace:
    """So many at once, and so many a second."""

    def __init__(self, most: float, per_second: float, clock: Callable[[], float]) -> None:
        self._most = most
        self._per_second = per_second
        self._clock = clock
        self._left = most
        self._since = clock()

    def admits(self, count: float = 1) -> bool:
        """Count so many more, if there is room."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._since) * self._per_second)
        self._since = now
        if self._left < count:
            return False
        self._left -= count
        return True
