"""Keeps a browser open: one that has crashed is started again, one that was closed never."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from tabhub.browser.launcher.finder import BrowserFailed
from tabhub.browser.launcher.providing import ManagedBrowser

log = logging.getLogger(__name__)

FIRST_SECONDS, MOST_SECONDS = 1.0, 60.0
"""The pause before the first new start, which doubles with each crash, and the longest."""
MOST_CRASHES = 5
"""After how many crashes in a row it is not started again."""
CALM_SECONDS = 600.0
"""After running this long, earlier crashes do not count any more."""

State = Literal["running", "restarting", "closed", "given up"]
_NOW: dict[State, str] = {
    "running": "runs again",
    "restarting": "is being started again",
    "closed": "was closed after that",
    "given up": "is not started again",
}


class KeptBrowser:
    """A managed browser that outlives its own crashes."""

    def __init__(
        self,
        browser: ManagedBrowser,
        start_again: Callable[[], Awaitable[ManagedBrowser]],
        pause: Callable[[float], Awaitable[Any]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.browser = browser
        self.state: State = "running"
        self.crashes = 0
        """Since this process started."""
        self._in_a_row = 0
        self._start_again = start_again
        self._pause = pause
        self._clock = clock

    @property
    def is_kept(self) -> bool:
        """Whether it runs or will run again; not if it was closed, or crashes too often."""
        return self.state in ("running", "restarting")

    def summary(self) -> dict[str, Any]:
        """What the status of the server says of it; a sentence only if it has crashed."""
        often = "once" if self.crashes == 1 else f"{self.crashes} times"
        says = f"The browser that tabhub started has crashed {often}; it {_NOW[self.state]}."
        return {
            "state": self.state,
            "crashes": self.crashes,
            "says": says if self.crashes else None,
        }

    async def run(self) -> BrowserFailed:
        """Start the browser again after crashes; returns how it ended for good."""
        while True:
            started = self._clock()
            end = await self.browser.failure()
            if not self.browser.has_crashed:
                self.state = "closed"
                return end
            if self._clock() - started >= CALM_SECONDS:
                self._in_a_row = 0
            if not await self._restart(end):
                self.state = "given up"
                return BrowserFailed(
                    f"{end.message} It has crashed {self._in_a_row} times in a row, so it is not "
                    "started again."
                )

    async def stop(self) -> None:
        await self.browser.stop()

    async def _restart(self, end: BrowserFailed) -> bool:
        self.crashes += 1
        while True:
            self._in_a_row += 1
            log.warning("the browser has crashed: %s", end.message)
            self.state = "restarting"
            # Its helpers may still run, and it still has the lock of its profile.
            await self.browser.stop()
            if self._in_a_row > MOST_CRASHES:
                return False
            await self._pause(min(FIRST_SECONDS * 2 ** (self._in_a_row - 1), MOST_SECONDS))
            try:
                self.browser = await self._start_again()
            except BrowserFailed as error:
                end = error
                continue
            self.state = "running"
            log.info("the browser was started again (pid %s)", self.browser.pid)
            return True
