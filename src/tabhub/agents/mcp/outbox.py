"""What waits to be written to one event stream: never without end, whoever is slow to read."""

import asyncio
from collections import deque

import msgspec

from tabhub.agents.mcp.streams import event_frame
from tabhub.errors import TabhubError

MOST_EVENTS = 10_000
MOST_BYTES = 32 * 1024 * 1024
"""That may wait; then the reader is too slow."""


class Outbox:
    """Events go in at any time; one writer takes them out."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()
        self.is_closed = False

    @property
    def is_over(self) -> bool:
        """Whether there will be nothing more to write."""
        return self.is_closed and not self._frames

    @property
    def is_full(self) -> bool:
        """Whether too much waits; a single event, however large, is not too much."""
        waiting = len(self._frames)
        return waiting > MOST_EVENTS or (waiting > 1 and self._bytes > MOST_BYTES)

    def put(self, event: bytes, data: bytes) -> None:
        """Add an event, whose data is one line."""
        if not self.is_closed:
            self._add(event, data)

    def fail(self, error: TabhubError) -> None:
        """Say what is wrong instead of all that waits, and end."""
        if not self.is_closed:
            self._clear()
            told = {"code": error.code, "message": error.message, **error.data()}
            self._add(b"error", msgspec.json.encode(told))
            self.close()

    def close(self) -> None:
        """Nothing more goes in."""
        self.is_closed = True
        self._wake.set()

    def drop(self) -> None:
        """There is nobody left to write to."""
        self._clear()
        self.close()

    async def take(self, seconds: float) -> bytes | None:
        """The next event as it goes over the wire, waiting for it at most so long."""
        if not self._frames and not self.is_closed:
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), seconds)
            except TimeoutError:
                return None
        if not self._frames:
            return None
        frame = self._frames.popleft()
        self._bytes -= len(frame)
        return frame

    def _add(self, event: bytes, data: bytes) -> None:
        frame = event_frame(event, data)
        self._frames.append(frame)
        self._bytes += len(frame)
        self._wake.set()

    def _clear(self) -> None:
        self._frames.clear()
        self._bytes = 0
