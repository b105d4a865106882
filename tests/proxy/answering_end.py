"""The extension's end of tunnels, in Python and without I/O, for tests.

It follows the same rules as `extension/worker/link/tunnel.js`; both are run through
`tunnel_vectors.json`.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from tabhub.errors import NotFound, ProtocolError, TabhubError, Unavailable
from tabhub.rate_limit import Clock
from tabhub.wire.tunnel import (
    HOLD_SECONDS,
    LOST,
    RESUME_SECONDS,
    Closed,
    IncomingPieces,
    OutgoingPieces,
    TunnelAnswer,
    TunnelRequest,
)

MOST_HELD = 4
MOST_BYTES = 64 * 1024 * 1024
Answer = Callable[[TunnelAnswer | TabhubError], None]


class AnsweringEnd:
    """One session."""

    def __init__(self, connection: str, clock: Clock) -> None:
        self.connection = connection
        self._clock = clock
        self._out = OutgoingPieces()
        self._in = IncomingPieces(MOST_BYTES)
        self._held: deque[tuple[float, Answer]] = deque()
        self._turn = 0
        self._empty_at = clock()
        self._is_closing = False
        self.messages: list[str] = []
        self.closed: int | None = None
        self.is_over = False
        self.on_message: Callable[[str], None] = self.messages.append

    def send(self, text: str) -> None:
        if self.closed is None:
            self._out.add(text)
            self._flush()

    def close(self, code: int) -> None:
        if self.closed is None:
            self.closed, self._is_closing = code, True
            self._out.close(code)
            self._flush()

    def take(self, connection: str, request: TunnelRequest, answer: Answer) -> None:
        if request.turn < self._turn or (
            request.turn == self._turn and connection != self.connection
        ):
            raise Unavailable("This session goes on in a later turn.", "not_connected")
        self._in.require_order(request.pieces)
        try:
            self._out.require_sent(request.ack)
            self._out.acknowledge(request.ack)
            if request.turn > self._turn:
                self._turn, self.connection = request.turn, connection
                self.left()
                self._out.send_again()
            arrived = self._in.take(request.pieces)
        except ProtocolError:
            self._end(LOST)
            raise
        self._held.append((self._clock() + HOLD_SECONDS, answer))
        for one in arrived:
            self._deliver(one)
        if self._is_closing and self._out.is_empty:
            self._end(LOST)
        self._flush()

    def _deliver(self, arrived: str | Closed) -> None:
        if isinstance(arrived, Closed):
            self._end(arrived.code)
        elif self.closed is None:
            self.on_message(arrived)

    def _flush(self) -> None:
        while self._held and (
            self._out.is_waiting or self._in.is_ack_due or len(self._held) > MOST_HELD
        ):
            self._answer()

    def _answer(self) -> None:
        _, answer = self._held.popleft()
        if not self._held:
            self._empty_at = self._clock()
        answer(TunnelAnswer(self._in.acknowledge(), self._out.take()))

    def left(self) -> None:
        """The requests of a connection that has ended are answered to nobody."""
        self._empty_at = self._clock()
        while self._held:
            self._held.popleft()[1](TunnelAnswer(self._in.ack, []))

    def tick(self) -> None:
        now = self._clock()
        while self._held and self._held[0][0] <= now:
            # What was not acknowledged for so long may be lost.
            self._out.send_again()
            self._answer()
        if not self._held and now >= self._empty_at + RESUME_SECONDS:
            self._end(LOST)

    def _end(self, code: int) -> None:
        self.closed = code if self.closed is None else self.closed
        self.is_over = True
        self.left()


class AnsweringTunnels:
    """All sessions of an extension."""

    def __init__(self, clock: Clock, offer: str = "v1-0.1.0") -> None:
        self._clock = clock
        self._offer = offer
        self.sessions: dict[str, AnsweringEnd] = {}
        self.on_open: Callable[[AnsweringEnd], None] = lambda session: None
        """Takes each new session; what it raises refuses the session."""

    def take(self, connection: str, params: Any, answer: Answer) -> None:
        """The answer may come at once or later."""
        try:
            self._take(connection, msgspec.convert(params, TunnelRequest), answer)
        except msgspec.ValidationError as error:
            answer(ProtocolError(str(error), "invalid_params"))
        except TabhubError as error:
            answer(error)
        self._forget()

    def _take(self, connection: str, request: TunnelRequest, answer: Answer) -> None:
        known = self.sessions.get(request.session)
        if request.turn == 0:
            self._open(connection, request, known)
            answer(TunnelAnswer(0, [], self._offer))
        elif known is None:
            raise NotFound("There is no such session; open another one.", "unknown_session")
        else:
            known.take(connection, request, answer)

    def _open(self, connection: str, request: TunnelRequest, known: AnsweringEnd | None) -> None:
        if request.ack or request.pieces:
            message = "The request that opens a session is empty."
            raise ProtocolError(message, "invalid_params")
        if known is not None:
            raise ProtocolError("It is open already.", "duplicate_id")
        for session in self.sessions.values():
            if session.connection == connection:
                session._end(LOST)
        session = AnsweringEnd(connection, self._clock)
        self.on_open(session)
        self.sessions[request.session] = session

    def tick(self) -> None:
        for session in self.sessions.values():
            session.tick()
        self._forget()

    def left(self, connection: str) -> None:
        for session in self.sessions.values():
            if session.connection == connection:
                session.left()

    def _forget(self) -> None:
        self.sessions = {id: one for id, one in self.sessions.items() if not one.is_over}
