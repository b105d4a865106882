"""The stream of messages between two nodes: numbered, acknowledged, cut into parts. No I/O.

Parts have numbers, so that after a broken line they are sent again without arriving twice. When one
of the two gives the other up, it begins a new generation, and the other, as soon as it hears of it,
gives up too: so both sides agree about which connections have ended.
"""

from collections import deque
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from tabhub.rate_limit import Clock
from tabhub.wire.nodes import StreamAck, StreamPart
from tabhub.wire.proxy import MAX_BYTES

MOST_UNACKNOWLEDGED = 2_000_000
"""Bytes of one connection on the way; the rest waits."""
MOST_WAITING = 32_000_000
"""Bytes of one connection that wait; with more it is ended as too slow."""
MOST_JOINED = 2 * MAX_BYTES
"""Bytes of one message of several parts."""
ACK_BYTES = 256_000
"""After so many bytes an acknowledgement does not wait any longer."""
PART_BYTES = 100
"""Of a part beside its body."""


class TooSlow(Exception):
    """A connection has more on its way than may wait."""


class _Sent(Struct):
    part: StreamPart
    at: float


class _Lane(Struct):
    """One connection."""

    unacknowledged: int = 0
    waiting: deque[StreamPart] = msgspec.field(default_factory=deque)
    waiting_bytes: int = 0

    @property
    def is_empty(self) -> bool:
        return not self.unacknowledged and not self.waiting


class NodeStream:
    """Both directions between this node and another one."""

    def __init__(self, own: str, clock: Clock) -> None:
        self.generation = 0
        self._own = own
        self._clock = clock
        self._begin()

    def _begin(self) -> None:
        self._next_number = 1
        self._sent: deque[_Sent] = deque()
        self._lanes: dict[str, _Lane] = {}
        self._arrived = 0
        """The number of the last part that has arrived."""
        self._joined: dict[str, list[bytes]] = {}
        self._owed_bytes = 0

    def restart(self, generation: int) -> None:
        """Forget everything that is on the way, in both directions."""
        self.generation = generation
        self._begin()

    @property
    def waits_since(self) -> float | None:
        """When the oldest part without an acknowledgement was sent."""
        return self._sent[0].at if self._sent else None

    def send(self, connection: str, message: bytes, part_bytes: int) -> list[StreamPart]:
        """Take a message; returns the parts that can be sent now. Raises TooSlow."""
        lane = self._lanes.setdefault(connection, _Lane())
        if lane.waiting_bytes + len(message) > MOST_WAITING:
            raise TooSlow
        for part in self._cut(connection, message, part_bytes):
            lane.waiting.append(part)
            lane.waiting_bytes += _size(part)
        return list(self._sendable(lane))

    def forget(self, connection: str) -> None:
        """Drop what waits of a connection; what was sent still arrives."""
        lane = self._lanes.get(connection)
        if lane is not None:
            lane.waiting.clear()
            lane.waiting_bytes = 0

    def _cut(self, connection: str, message: bytes, part_bytes: int) -> Iterator[StreamPart]:
        # Parts get their numbers when they are sent: another connection may be first.
        about = (self._own, self.generation, 0, connection)
        for start in range(0, max(1, len(message)), part_bytes):
            end = start + part_bytes
            yield StreamPart(*about, start == 0, end >= len(message), message[start:end])

    def _sendable(self, lane: _Lane) -> Iterator[StreamPart]:
        while lane.waiting and self._has_room(lane, _size(lane.waiting[0])):
            waiting = lane.waiting.popleft()
            part = msgspec.structs.replace(waiting, number=self._next_number)
            self._next_number += 1
            lane.waiting_bytes -= _size(part)
            lane.unacknowledged += _size(part)
            self._sent.append(_Sent(part, self._clock()))
            yield part

    def _has_room(self, lane: _Lane, size: int) -> bool:
        return not lane.unacknowledged or lane.unacknowledged + size <= MOST_UNACKNOWLEDGED

    def acknowledged(self, ack: StreamAck) -> list[StreamPart]:
        """Returns the parts that can be sent now."""
        if ack.generation != self.generation:
            return []
        lanes: dict[str, _Lane] = {}
        while self._sent and self._sent[0].part.number <= ack.number:
            part = self._sent.popleft().part
            lane = lanes[part.connection] = self._lanes[part.connection]
            lane.unacknowledged -= _size(part)
        sendable = [part for lane in lanes.values() for part in self._sendable(lane)]
        for connection, lane in lanes.items():
            if lane.is_empty:
                del self._lanes[connection]
        return sendable

    def unacknowledged(self) -> list[StreamPart]:
        """What to send again after the line was broken."""
        now = self._clock()
        for sent in self._sent:
            sent.at = now
        return [sent.part for sent in self._sent]

    def received(self, part: StreamPart) -> bytes | None:
        """A part of this generation; returns the message that it completes."""
        if part.number != self._arrived + 1:
            # It is here already, or one before it was lost. Then the sender will notice.
            return None
        self._arrived = part.number
        self._owed_bytes += _size(part)
        return self._join(part)

    def _join(self, part: StreamPart) -> bytes | None:
        before = self._joined.pop(part.connection, None)
        if part.is_first:
            before = []
        if before is None or sum(map(len, before)) > MOST_JOINED:
            return None
        pieces = [*before, part.body]
        if part.is_last:
            return b"".join(pieces)
        self._joined[part.connection] = pieces
        return None

    @property
    def owes_much(self) -> bool:
        """Whether the sender may be waiting for an acknowledgement."""
        return self._owed_bytes >= ACK_BYTES

    def ack(self) -> StreamAck:
        self._owed_bytes = 0
        return StreamAck(self._own, self.generation, self._arrived)


def _size(part: StreamPart) -> int:
    return PART_BYTES + len(part.body)
