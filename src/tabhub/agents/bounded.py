"""HTTP with limits: whoever has no token must not be able to fill our memory, or to hold all
connections by saying nothing; and whoever stops reading is left."""

import asyncio

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tabhub.errors import ProtocolError, TabhubError

MAX_HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10.0
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
NOT_HTTP = _refusal(b"400 Bad Request", ProtocolError("This is not HTTP."))


class BoundedHttp(HttpToolsProtocol):
    """uvicorn's protocol, which by itself reads headers without end, and waits for them so."""

    _head_bytes = 0
    _in_head = False
    _patience: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._end_stall()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0
        if self._patience is None:
            self._wait()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def _wait(self) -> None:
        self._patience = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(TOO_LARGE)

    def send_400_response(self, msg: str) -> None:
        self._refuse(NOT_HTTP)

    def pause_writing(self) -> None:
        super().pause_writing()
        # Closing would wait for what cannot be written.
        self._stall = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_stall()

    def _end_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _refuse(self, answer: bytes) -> None:
        self.transport.write(answer)
        self.transport.close()
