"""HTTP with limits: whoever has no token must not be able to fill our memory, or to hold all
connections by saying nothing; and whoever stops reading is left."""

import asyncio
from collections.abc import Callable
from typing import cast

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tabhub.agents.connections import SEAT, Crowd, Seat
from tabhub.agents.security import CALLER
from tabhub.errors import ProtocolError, TabhubError
from tabhub.wire.asgi import Scope

MAX_HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10.0
BODY_SECONDS = 30.0
"""For all of it: ten megabytes take a moment on one machine."""
STRANGER_SECONDS = 5
"""How long a connection is kept for who has shown no token."""
STALL_SECONDS = 30.0
"""How long a client may leave unread what was sent to it."""


def _refusal(status: bytes, error: TabhubError) -> bytes:
    body = msgspec.json.encode(error.to_http())
    head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close" % len(body)
    return b"HTTP/1.1 " + status + b"\r\n" + head + b"\r\n\r\n" + body


TOO_LARGE = _refusal(
    b"431 Request Header Fields Too Large",
    ProtocolError(f"The head is larger than {MAX_HEAD_BYTES} bytes.", "too_large"),
)
TOO_LATE = _refusal(
    b"408 Request Timeout",
    ProtocolError(f"The body did not come within {BODY_SECONDS:.0f} seconds.", "body_timeout"),
)
NOT_HTTP = _refusal(b"400 Bad Request", ProtocolError("This is not HTTP."))


class BoundedHttp(HttpToolsProtocol):
    """uvicorn's protocol, which by itself reads headers without end, and waits for all so."""

    crowd: Crowd
    _seat: Seat
    _head_bytes = 0
    _heads_begun = 0
    _in_head = False
    _in_body = False
    _patience: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # Closing would wait for who does not read.
        self._seat = self.crowd.enter(transport.abort)
        self._wait(HEAD_SECONDS, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._end_stall()
        self._seat.free()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast(Scope, self.scope)[SEAT] = self._seat
        self._in_head, self._head_bytes = True, 0
        self._heads_begun += 1

    def on_header(self, name: bytes, value: bytes) -> None:
        """What comes behind a body is no head: nobody needs it, and it could go on for ever."""
        if self._in_head:
            super().on_header(name, value)
            return
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(TOO_LARGE)

    def on_headers_complete(self) -> None:
        self._in_head, self._in_body, self._head_bytes = False, True, 0
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_body = False
        self._stop_waiting()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        # From here on it is another's connection.
        self._in_body = False
        self._stop_waiting()
        self._seat.free()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        self._heads_begun = 0
        super().data_received(data)
        # Most requests come in one piece and never need a timer.
        if self._in_head:
            # Of several requests in one piece, the last has only begun.
            self._head_bytes += len(data) if self._heads_begun < 2 else 0
            self._wait(HEAD_SECONDS, self.transport.close)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(TOO_LARGE)
        elif self._in_body:
            self._wait(BODY_SECONDS, self._give_up_body)

    def on_response_complete(self) -> None:
        is_known = cast(Scope, self.cycle.scope).get(CALLER) is not None
        usual = self.config.timeout_keep_alive
        self.timeout_keep_alive = usual if is_known else min(usual, STRANGER_SECONDS)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        self._in_head = self._in_body = False
        self._refuse(NOT_HTTP)

    def pause_writing(self) -> None:
        super().pause_writing()
        # Closing would wait for what cannot be written.
        self._stall = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_stall()

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        """Have patience, unless we have it already."""
        if self._patience is None:
            self._patience = self.loop.call_later(seconds, then)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _end_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _give_up_body(self) -> None:
        """Answer in place of the application, which then finds that its client has gone."""
        if self.cycle.response_started:
            self.transport.close()
        else:
            self._refuse(TOO_LATE)

    def _refuse(self, answer: bytes) -> None:
        self.transport.write(answer)
        self.transport.close()


def bounded(crowd: Crowd) -> type[BoundedHttp]:
    """The protocol for one server, whose connections are counted together."""
    return type("Http", (BoundedHttp,), {"crowd": crowd})
