"""stdin and stdout as lines. Threads do the waiting, so that files and slow readers are all one.

Nobody else may write to stdout from here on: what is printed goes to stderr.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

READ_BYTES = 64 * 1024
MOST_WAITING = 16 * 1024 * 1024
"""Bytes that a client has not read yet; above that, servers are kept waiting."""
KEPT = 4
"""Times the longest line is kept of a line that is too long, to find out whose answer it is."""


class TooLong(bytes):
    """A line that is longer than allowed, or as much of it as was kept."""


class Lines:
    """The lines of stdin, until it closes (then None)."""

    def __init__(self, handle: int, longest: int) -> None:
        self._handle = handle
        self._longest = longest
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def next(self) -> bytes | None:
        return await self._ready.get()

    def start(self) -> None:
        threading.Thread(target=self._run, name="stdin", daemon=True).start()

    def _run(self) -> None:
        splitter = Splitter(self._longest)
        while data := self._read():
            for line in splitter.feed(data):
                self._tell(line)
        for line in splitter.finish():
            self._tell(line)
        self._tell(None)

    def _read(self) -> bytes:
        try:
            return os.read(self._handle, READ_BYTES)
        except OSError:
            return b""

    def _tell(self, line: bytes | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._ready.put_nowait, line)
        except RuntimeError:  # the loop is closed: we are leaving
            return


class Splitter:
    """Cuts bytes into lines; blank ones are nothing."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._rest: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        *lines, last = data.split(b"\n")
        found = []
        for line in lines:
            self._keep(line)
            found += self.finish()
        self._keep(last)
        return found

    def finish(self) -> list[bytes]:
        """What has been begun, as a line."""
        line, size = b"".join(self._rest).strip(b" \t\r"), self._size
        self._rest, self._size = [], 0
        if size > self._longest:
            return [TooLong(line)]
        return [line] if line else []

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= KEPT * self._longest:
            self._rest.append(piece)


class Output:
    """Writes lines to stdout, in order; `broken` is called once when nobody reads any more."""

    def __init__(self, handle: int, broken: Callable[[], None]) -> None:
        self._handle = handle
        self._broken = broken
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._waiting = 0
        self._room = asyncio.Event()
        self._room.set()
        self._thread = threading.Thread(target=self._run, name="stdout", daemon=True)
        self._thread.start()

    async def write(self, message: bytes) -> None:
        """Send one message; JSON has no line breaks but blanks."""
        line = message.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
        self._waiting += len(line)
        self._queue.put(line)
        if self._waiting > MOST_WAITING:
            self._room.clear()
        await self._room.wait()

    async def flush(self, seconds: float) -> None:
        """Wait until all is written, though not for ever."""
        self._queue.put(None)
        limit = self._loop.time() + seconds
        while self._thread.is_alive() and self._loop.time() < limit:
            await asyncio.sleep(0.005)

    def _run(self) -> None:
        try:
            while (line := self._queue.get()) is not None:
                view = memoryview(line)
                while view:
                    view = view[os.write(self._handle, view) :]
                self._loop.call_soon_threadsafe(self._written, len(line))
        except OSError:
            self._loop.call_soon_threadsafe(self._broken)
        except RuntimeError:  # the loop is closed: we are leaving
            return

    def _written(self, size: int) -> None:
        self._waiting -= size
        if self._waiting <= MOST_WAITING:
            self._room.set()


def take_over() -> tuple[int, int]:
    """Handles of stdin and stdout that nobody else has."""
    source, target = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no stderr
        os.dup2(nowhere, 1)
    return source, target
