"""The processes of `tabhub proxy serve --workers N`: one that dies is started again.

Workers are forks of the command, which has opened all listeners before. It keeps them open, so what
comes while a worker starts again waits and is not refused.
"""

import logging
import os
import select
import signal
import sys
import time
from types import FrameType
from typing import NamedTuple

from tabhub.system import forks

log = logging.getLogger(__name__)

AGAIN_SECONDS = 1.0
"""A worker is started at most so often."""
_STOPS = frozenset({signal.SIGINT, signal.SIGTERM})


class Worker(NamedTuple):
    """What a worker process knows of its place."""

    number: int
    parent: int
    """A file that ends when the parent does."""
    ready: int
    """A file to write to when this worker serves."""

    def is_up(self) -> None:
        """Say that this worker serves."""
        os.write(self.ready, b"1")


class Workers:
    """The parent of the processes."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._numbers: dict[int, int] = {}
        """The number of each worker, by its process."""
        self._due: dict[int, float] = dict.fromkeys(range(count), 0.0)
        """When a worker that does not run is to be started."""
        self._alive, self._life = os.pipe()
        self._up, self._ready = os.pipe()
        self._woken, self._waker = os.pipe()
        self._was_up = False
        self._is_stopping = False
        self._failure = 0

    def keep(self) -> Worker:
        """Run the workers until a signal ends them; returns only in a worker."""
        forks.never_block(self._woken, self._waker)
        for known in forks.signals():
            signal.signal(known, _noted)
        signal.set_wakeup_fd(self._waker)
        while not (self._is_stopping and not self._numbers):
            for number in self._startable():
                worker = self._start(number)
                if worker is not None:
                    return worker
            self._wait()
            self._collect()
        sys.exit(self._failure)

    def _startable(self) -> list[int]:
        now = time.monotonic()
        return [] if self._is_stopping else [n for n, due in self._due.items() if due <= now]

    def _start(self, number: int) -> Worker | None:
        """Fork; returns in the child."""
        process = forks.fork()
        if process:
            self._numbers[process] = number
            self._due[number] = float("inf")
            return None
        signal.set_wakeup_fd(-1)
        for known in forks.signals():
            signal.signal(known, signal.SIG_DFL)
        # A terminal sends it to everyone, and the parent passes it on.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for file in (self._life, self._up, self._woken, self._waker):
            os.close(file)
        return Worker(number, self._alive, self._ready)

    def _wait(self) -> None:
        """Wait for a signal, a worker that serves, or the time to start one again."""
        due = min(self._due.values()) - time.monotonic()
        timeout = None if due == float("inf") or self._is_stopping else max(0.0, due)
        files, _, _ = select.select([self._woken, self._up], [], [], timeout)
        if self._up in files:
            os.read(self._up, 1000)
            self._was_up = True
        if self._woken in files and _STOPS.intersection(os.read(self._woken, 1000)):
            self._stop()

    def _collect(self) -> None:
        """See which workers have ended."""
        for process, number in list(self._numbers.items()):
            code = forks.exit_code(process)
            if code is not None:
                del self._numbers[process]
                self._ended(number, code)

    def _ended(self, number: int, code: int) -> None:
        self._due[number] = time.monotonic() + AGAIN_SECONDS
        if self._is_stopping:
            return
        if code > 0 and not self._was_up:
            # It has said why, and so would the next one.
            self._failure = code
            self._stop()
            return
        log.warning("worker %d has ended with %d; it is started again", number, code)

    def _stop(self) -> None:
        """Pass the wish to stop on; the second one cuts off what has not ended."""
        self._is_stopping = True
        for process in self._numbers:
            os.kill(process, signal.SIGTERM)


def _noted(_number: int, _frame: FrameType | None) -> None:
    """A handler, so that the signal is written to the waker."""
