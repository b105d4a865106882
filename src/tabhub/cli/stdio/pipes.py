"""stdin and stdout as lines. Threads do the blocking reads and writes, for pipes and files alike.

After `take_over` nothing else can write to stdout: what is printed goes to stderr.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

READ_BYTES = 64 * 1024
MAX_UNREAD_BYTES = 16 * 1024 * 1024
"""If the client has left more than this unread, writers wait."""
KEPT = 4
"""How much of a line that is too long is kept, in longest lines, to find its request id."""


class TooLong(bytes):
    """The beginning of a line that is longer than allowed."""


class Lines:
    """The lines of stdin; None once it is closed."""

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
                self._put(line)
        for line in splitter.finish():
            self._put(line)
        self._put(None)

    def _read(self) -> bytes:
        try:
            return os.read(self._handle, READ_BYTES)
        except OSError:
            return b""

    def _put(self, line: bytes | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._ready.put_nowait, line)
        except RuntimeError:  # the loop is closed: the bridge ends
            return


class Splitter:
    """Splits bytes into lines, without blank ones."""

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
        """The unfinished line, as a line."""
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
    """Writes lines to stdout, in order; `broken` is called once when the pipe is closed."""

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
        """Write one message on one line; line breaks in JSON are only whitespace."""
        line = message.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
        self._waiting += len(line)
        self._queue.put(line)
        if self._waiting > MAX_UNREAD_BYTES:
            self._room.clear()
        await self._room.wait()

    async def flush(self, seconds: float) -> None:
        """Wait until everything is written, but not longer than this."""
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
        except RuntimeError:  # the loop is closed: the bridge ends
            return

    def _written(self, size: int) -> None:
        self._waiting -= size
        if self._waiting <= MAX_UNREAD_BYTES:
            self._room.set()


def take_over() -> tuple[int, int]:
    """File descriptors of stdin and stdout that no other code has."""
    source, target = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no stderr
        os.dup2(null, 1)
    return source, target
