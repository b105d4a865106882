"""Event streams that can be resumed: each keeps its last events, with or without a reader."""

import asyncio
import re
from collections import deque
from itertools import count

from tabhub.errors import ProtocolError

KEPT_EVENTS = 256
KEPT_STREAMS = 16
STANDALONE = 0
"""The stream that a GET opens: notifications that belong to no request."""

_EVENT_ID = re.compile(r"([0-9]{1,18})_([0-9]{1,18})")


class Reader:
    """A connection that writes a stream, and its position in it."""

    def __init__(self, position: int) -> None:
        self.position = position
        self.wake = asyncio.Event()


class EventStream:
    """One stream of one session: events are appended, and readers wait for them."""

    def __init__(self, key: int) -> None:
        self.key = key
        self.done = False
        self.delivered = 0
        self._last = 0
        self._events: deque[tuple[int, bytes]] = deque(maxlen=KEPT_EVENTS)
        self._readers: list[Reader] = []

    def append(self, data: bytes, retry_ms: int | None = None) -> bytes:
        """Keep an event and return it as it goes over the wire."""
        self._last += 1
        frame = _frame(f"{self.key}_{self._last}", data, retry_ms)
        self._events.append((self._last, frame))
        self._wake()
        return frame

    def finish(self) -> None:
        self.done = True
        self._wake()

    def attach(self, position: int) -> Reader:
        reader = Reader(position)
        self._readers.append(reader)
        return reader

    def detach(self, reader: Reader) -> None:
        """Remove a reader; the newest of the others continues."""
        self._readers.remove(reader)
        self._wake()

    def take(self, reader: Reader) -> list[bytes]:
        """The events that a reader has to write; only the newest reads the standalone stream."""
        if self.key == STANDALONE and self._readers[-1] is not reader:
            return []
        frames = [frame for number, frame in self._events if number > reader.position]
        for other in self._readers if self.key == STANDALONE else [reader]:
            other.position = self._last
        self.delivered = self._last
        return frames

    def _wake(self) -> None:
        for reader in self._readers:
            reader.wake.set()


class Streams:
    """The streams of one session."""

    def __init__(self) -> None:
        self._numbers = count(STANDALONE + 1)
        self.standalone = EventStream(STANDALONE)
        self._open: dict[int, EventStream] = {STANDALONE: self.standalone}

    def open(self) -> EventStream:
        stream = EventStream(next(self._numbers))
        self._open[stream.key] = stream
        self._forget_old()
        return stream

    def resume(self, last_event_id: str) -> tuple[EventStream, int]:
        """The stream that an event id belongs to, and the position of that event in it."""
        found = _EVENT_ID.fullmatch(last_event_id)
        stream = self._open.get(int(found[1])) if found else None
        if found is None or stream is None:
            # Not 404: by that the client would conclude that its session has ended.
            raise ProtocolError(f"The event {last_event_id!r} is not kept; open a new stream.")
        return stream, int(found[2])

    def close(self) -> None:
        for stream in self._open.values():
            stream.finish()

    def _forget_old(self) -> None:
        finished = [key for key, stream in self._open.items() if stream.done]
        for key in finished[:-KEPT_STREAMS]:
            del self._open[key]


def message_frame(data: bytes) -> bytes:
    """An event that cannot be resumed."""
    return event_frame(b"message", data)


def event_frame(kind: bytes, data: bytes) -> bytes:
    return b"event: " + kind + b"\ndata: " + one_line(data) + b"\n\n"


def one_line(data: bytes) -> bytes:
    """Escape what some clients take for the end of a line: all line ends of Unicode."""
    if not data.isascii():
        for letter in "\x85\u2028\u2029":
            data = data.replace(letter.encode(), b"\\u%04x" % ord(letter))
    return data


def _frame(event_id: str, data: bytes, retry_ms: int | None) -> bytes:
    head = b"" if retry_ms is None else b"retry: %d\n" % retry_ms
    kind = b"event: message\n" if data else b""
    return b"id: " + event_id.encode() + b"\n" + head + kind + b"data: " + one_line(data) + b"\n\n"
