"""The tunnel: the two-way link to an extension, inside requests that only one end may send.

The far server sends `tabhub.link {session, turn, ack, pieces}`, the extension answers
`{ack, pieces}`. A message is cut into numbered pieces, and each end says up to which number it has
the other's. The server always has two requests waiting, so that the extension can say something at
once; one that has nothing to say answers after twenty seconds.

Turn 0 opens a session, and is sent once. A higher turn than before says that something may be
lost: both ends then send again whatever the other has not acknowledged, and the other drops what
it has already. So each message arrives once and in order, or the session ends.

This is the server's end, with what both ends share. It does no I/O, and the clock is a parameter.
The extension's end is `extension/worker/link/tunnel.js`.
"""

from collections import deque
from itertools import count, pairwise
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from tabhub.errors import ProtocolError
from tabhub.rate_limit import Clock

METHOD = "tabhub.link"
PIECE_BYTES = 256 * 1024
"""Of a piece's text, as UTF-8."""
FRAME_BYTES = 4 * PIECE_BYTES
"""Of the pieces in one request or answer."""
FRAME_PIECES = 256
HELD = 2
"""How many requests wait at the extension while nothing happens."""
MOST_WAITING = 16
"""Requests without an answer; the extension answers the oldest before so many wait there."""
WINDOW_BYTES = 2 * FRAME_BYTES
"""Of pieces on the way that are not acknowledged."""
HOLD_SECONDS = 20.0
RESUME_SECONDS = 60.0
"""How long a session outlives its connection."""
LOST = 1006
"""Close code: the session has ended without one."""

Natural = Annotated[int, Meta(ge=0, le=2**53 - 1)]
_CONTINUATION = 0b1100_0000, 0b1000_0000


class Piece(Struct, frozen=True, omit_defaults=True):
    """A part of a message, or the end of the session, which comes after all messages."""

    number: Annotated[int, Meta(ge=1, le=2**53 - 1)]
    text: Annotated[str, Meta(max_length=PIECE_BYTES)] = ""
    more: bool = False
    """Whether the message goes on in the next piece."""
    close: Natural | None = None
    """The code with which the session ends."""

    @property
    def size(self) -> int:
        return len(self.text.encode())


Pieces = Annotated[list[Piece], Meta(max_length=FRAME_PIECES)]


class TunnelRequest(Struct):
    session: Annotated[str, Meta(min_length=16, max_length=64)]
    turn: Natural
    ack: Natural
    pieces: Pieces


class TunnelAnswer(Struct, omit_defaults=True):
    ack: Natural
    pieces: Pieces
    offer: str = ""
    """Only in the answer that opens a session: the extension's version, as on its WebSocket."""


class Closed(NamedTuple):
    """The other end has ended the session."""

    code: int


Arrived = str | Closed


def cut(text: str) -> list[str]:
    """The parts of a message; no character is cut in two."""
    if len(text) * 4 <= PIECE_BYTES:
        return [text]
    body, parts, start = text.encode(), [], 0
    while start < len(body):
        end = _boundary(body, start + PIECE_BYTES)
        parts.append(body[start:end].decode())
        start = end
    return parts or [""]


def _boundary(body: bytes, end: int) -> int:
    mask, mark = _CONTINUATION
    while end < len(body) and body[end] & mask == mark:
        end -= 1
    return min(end, len(body))


class OutgoingPieces:
    """What one end has sent and may have to send again."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._kept: deque[Piece] = deque()
        """Not acknowledged, in order."""
        self._acknowledged = 0
        self.sent = 0
        """The number up to which they are on the way, or have arrived."""
        self._highest = 0
        """The highest number ever sent."""
        self._bytes_on_way = 0
        self.size = 0
        """Bytes that are kept."""

    def add(self, text: str) -> None:
        parts = cut(text)
        for part in parts[:-1]:
            self._keep(Piece(next(self._numbers), part, more=True))
        self._keep(Piece(next(self._numbers), parts[-1]))

    def close(self, code: int) -> None:
        self._keep(Piece(next(self._numbers), close=code))

    def _keep(self, piece: Piece) -> None:
        self._kept.append(piece)
        self.size += piece.size

    @property
    def is_empty(self) -> bool:
        """Whether the other end has everything."""
        return not self._kept

    def require_sent(self, number: int) -> None:
        if number > self._highest:
            raise ProtocolError("A piece was acknowledged before it was sent.", "invalid_params")

    def acknowledge(self, number: int) -> None:
        """The other end has all pieces up to this number."""
        self._acknowledged = max(self._acknowledged, number)
        while self._kept and self._kept[0].number <= number:
            piece = self._kept.popleft()
            self.size -= piece.size
            if piece.number <= self.sent:
                self._bytes_on_way -= piece.size
        self.sent = max(self.sent, self._acknowledged)

    def send_again(self) -> None:
        """Whatever is on the way counts as lost."""
        self.sent, self._bytes_on_way = self._acknowledged, 0

    @property
    def is_waiting(self) -> bool:
        """Whether something can be sent now."""
        has_unsent = bool(self._kept) and self._kept[-1].number > self.sent
        return has_unsent and self._bytes_on_way < WINDOW_BYTES

    def take(self) -> list[Piece]:
        """The next pieces to send, as many as fit into a frame."""
        taken: list[Piece] = []
        room = FRAME_BYTES if self.is_waiting else 0
        for index in range(self.sent - self._acknowledged, len(self._kept)):
            piece = self._kept[index]
            room -= piece.size
            if room < 0 or len(taken) == FRAME_PIECES:
                break
            taken.append(piece)
        if taken:
            self.sent = taken[-1].number
            self._highest = max(self._highest, self.sent)
            self._bytes_on_way += sum(piece.size for piece in taken)
        return taken


class IncomingPieces:
    """Puts the other end's messages together again."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._parts: list[str] = []
        self._size = 0
        self._unacknowledged = 0
        self.ack = 0
        """All pieces up to this number have come."""

    def acknowledge(self) -> int:
        """The number to tell the other end now."""
        self._unacknowledged = 0
        return self.ack

    @property
    def is_ack_due(self) -> bool:
        """Whether so much has come that the other end may wait for the acknowledgement."""
        return self._unacknowledged >= PIECE_BYTES

    def take(self, pieces: list[Piece]) -> list[Arrived]:
        """The messages that are whole now. Of pieces after a gap none is taken."""
        self.require_order(pieces)
        return [arrived for piece in pieces for arrived in self._take(piece)]

    def require_order(self, pieces: list[Piece]) -> None:
        numbers = [piece.number for piece in pieces]
        is_in_order = all(after == before + 1 for before, after in pairwise(numbers))
        if numbers and not (is_in_order and numbers[0] <= self.ack + 1):
            raise missing_piece(self.ack)

    def _take(self, piece: Piece) -> list[Arrived]:
        if piece.number <= self.ack:
            return []
        self.ack = piece.number
        if piece.close is not None:
            return [Closed(piece.close)]
        self._parts.append(piece.text)
        self._size += piece.size
        self._unacknowledged += piece.size
        if self._size > self._max_bytes:
            raise ProtocolError("A message is larger than the link carries.", "too_large")
        if piece.more:
            return []
        whole = "".join(self._parts)
        self._parts, self._size = [], 0
        return [whole]


def missing_piece(ack: int) -> ProtocolError:
    sentence = f"Nothing was taken: piece {ack + 1} has to come first."
    return ProtocolError(sentence, "missing_piece", data={"ack": ack})


class CallingEnd:
    """The server's end of one session."""

    def __init__(self, session: str, clock: Clock, max_bytes: int) -> None:
        self._session = session
        self._clock = clock
        self._out = OutgoingPieces()
        self._in = IncomingPieces(max_bytes)
        self._turn = 0
        self._ids = count(1)
        self._waiting: dict[int, int] = {}
        """The requests of this turn that have no answer, and which piece had been sent by then."""
        self._is_connected = True
        self._is_opening = True
        self._heard_at = clock()
        self.is_open = False
        self.is_closing = False
        self.offer = ""
        """The extension's version, once the session is open."""

    def send(self, text: str) -> None:
        if not self.is_closing:
            self._out.add(text)

    def close(self, code: int) -> None:
        if not self.is_closing:
            self._out.close(code)
            self.is_closing = True

    @property
    def is_over(self) -> bool:
        """Whether the extension was not heard for so long that it may have given up."""
        return self._clock() >= self._heard_at + RESUME_SECONDS

    def requests(self) -> list[tuple[int, TunnelRequest]]:
        """What is to be sent now, each with the number by which its answer is known."""
        found: list[tuple[int, TunnelRequest]] = []
        if self._is_opening and self._is_connected:
            self._is_opening = False
            found.append(self._request([]))
        while self.is_open and self._is_connected and self._needs_request:
            found.append(self._request(self._out.take()))
        return found

    @property
    def _needs_request(self) -> bool:
        has_something = self._out.is_waiting or self._in.is_ack_due
        return self.waiting < HELD or (has_something and self.waiting < MOST_WAITING)

    def _request(self, pieces: list[Piece]) -> tuple[int, TunnelRequest]:
        id = next(self._ids)
        self._waiting[id] = self._out.sent
        return id, TunnelRequest(self._session, self._turn, self._in.acknowledge(), pieces)

    @property
    def unacknowledged(self) -> int:
        """How many bytes the extension has not acknowledged."""
        return self._out.size

    @property
    def waiting(self) -> int:
        """How many requests of this turn have no answer."""
        return len(self._waiting)

    def is_waiting_for(self, id: int) -> bool:
        """Whether an answer with this number counts; those of earlier turns do not."""
        return id in self._waiting

    def answered(self, id: int, answer: TunnelAnswer) -> list[Arrived]:
        """Take an answer; raises ProtocolError if the session cannot go on."""
        if not self.is_waiting_for(id):
            # What an answer of an earlier turn has is sent again.
            return []
        sent = self._waiting.pop(id)
        self._out.require_sent(answer.ack)
        self._heard_at = self._clock()
        if not self.is_open:
            self.is_open, self.offer, self._turn = True, answer.offer, 1
        self._out.acknowledge(answer.ack)
        if answer.ack < sent:
            # The extension has got this request, and not everything that was sent before.
            self.again()
        return self._arrived(answer.pieces)

    def _arrived(self, pieces: list[Piece]) -> list[Arrived]:
        try:
            return self._in.take(pieces)
        except ProtocolError as error:
            if error.reason != "missing_piece":
                raise
            self.again()
            return []

    def again(self) -> None:
        """A request or an answer may be lost: begin a new turn."""
        self._turn += 1
        self._waiting.clear()
        self._out.send_again()

    def lost(self) -> None:
        """The connection is gone, and perhaps what was on its way."""
        if self._is_connected and self.is_open:
            self._heard_at = self._clock()
        self._is_connected = False

    def connected(self) -> None:
        """There is a connection again."""
        self._is_connected = True
        self.again()
