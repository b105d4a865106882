"""WebSockets of the proxy, on uvicorn's listener but without a task for each: most are idle.

A socket is closed with a code that says why. What its other side does not read is kept only up to a
limit of bytes and time, then the socket is dropped.
"""

import asyncio
from collections.abc import Callable
from math import ceil
from typing import Any, Protocol, cast

from websockets.exceptions import PayloadTooBig
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from tabhub.proxy.outputs import TOO_LARGE, TOO_MUCH
from tabhub.proxy.switchboard import Side
from tabhub.wire.proxy import MAX_BYTES

MOST_UNREAD_BYTES = 32_000_000
UNREAD_SECONDS = 10.0
PING_SECONDS = 30.0
"""A socket that has not answered one ping when the next is due is dead."""
PINGS_TOGETHER = 0.25
"""Pings wait for the next such part of a second: waking up costs more than a ping does."""
CLOSE_SECONDS = 5.0
"""How long the other side may take to confirm that the socket is closed."""
MOST_FRAGMENTS = 10_000
"""Of one message."""
STRANGER_BYTES = 100_000
"""Of one message, before the socket has authenticated: a token and a few names."""
MOST_CONTROLS = 1000
"""Pings and the like between two pings of our own."""
_UNSUPPORTED, _INVALID_TEXT = 1003, 1007
_PING = b"\x89\x00"
_TEXT, _TWO_BYTES, _EIGHT_BYTES = 0x81, 126, 127
"""The first byte of a text in one frame, and lengths that mean that the length follows."""

Refusal = tuple[int, str]
"""The status and the text of an HTTP response."""


class Sockets(Protocol):
    """What sockets report to."""

    def side_of(self, request: Request, address: str) -> Side | Refusal:
        """Whether a request may become a socket, and of which side."""

    def opened(self, socket: "ProxySocket", side: Side) -> None: ...

    def received(self, socket: "ProxySocket", data: bytes) -> None: ...

    def closed(self, socket: "ProxySocket") -> None: ...


class ProxySocket(asyncio.Protocol):
    """One socket. uvicorn makes it for each request that asks for a WebSocket."""

    sockets: Sockets

    __slots__ = (
        "_address",
        "_connections",
        "_controls",
        "_fragments",
        "_is_open",
        "_protocol",
        "_size",
        "_timer",
        "_transport",
        "_unread",
        "_waits_for_pong",
        "number",
    )

    def __init__(self, config: Any, server_state: Any, app_state: Any, _loop: Any = None) -> None:
        self.number = 0
        self._connections: set[Any] = server_state.connections
        self._protocol = ServerProtocol(max_size=STRANGER_BYTES)
        self._transport: asyncio.Transport
        self._address = ""
        self._fragments: list[bytes] = []
        self._size = 0
        self._is_open = False
        self._controls = 0
        self._waits_for_pong = False
        self._timer: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    @property
    def address(self) -> str:
        return self._address

    # What uvicorn and asyncio call.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        name = transport.get_extra_info("peername")
        self._address = str(name[0]) if isinstance(name, tuple) else ""
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._stop(self._timer)
        self._stop(self._unread)
        if self._is_open:
            self._is_open = False
            self.sockets.closed(self)

    def shutdown(self) -> None:
        """uvicorn stops; the service has closed its sockets before that."""
        self._transport.abort()

    def pause_writing(self) -> None:
        self._unread = self._later(UNREAD_SECONDS, self._drop)

    def resume_writing(self) -> None:
        self._stop(self._unread)
        self._unread = None

    def eof_received(self) -> None:
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        protocol = self._protocol
        protocol.receive_data(data)
        for event in protocol.events_received():
            if isinstance(event, Request):
                self._requested(event)
            elif isinstance(event, Frame):
                self._framed(event)
        if isinstance(protocol.parser_exc, PayloadTooBig):
            self.close(TOO_LARGE, "too_large")
        self._flush()
        if protocol.handshake_exc is not None:
            # Such a request becomes no socket, and no timer would end it.
            self._transport.close()

    # What the service calls.

    def authenticated(self) -> None:
        """From now on its messages may have the full size."""
        self._protocol.max_message_size = MAX_BYTES

    def send(self, frame: bytes) -> None:
        if not self._is_open or self._transport.is_closing():
            return
        self._transport.write(_head(len(frame)) + frame)
        if self._transport.get_write_buffer_size() > MOST_UNREAD_BYTES:
            self._drop()

    def close(self, code: int, reason: str) -> None:
        """Close with a code; whoever does not confirm it is cut off."""
        if not self._is_open:
            return
        self._is_open = False
        self._stop(self._timer)
        # The protocol may have failed already, with a code of its own.
        self._protocol.data_to_send()
        payload = Close(code, reason[:100]).serialize()
        frame = Frame(Opcode.CLOSE, payload).serialize(mask=False)
        self._transport.write(frame)
        self._timer = self._later(CLOSE_SECONDS, self._transport.abort)
        self.sockets.closed(self)

    def _requested(self, request: Request) -> None:
        response = self._protocol.accept(request)
        side = self.sockets.side_of(request, self._address)
        if isinstance(side, tuple) and response.status_code == 101:
            response = self._protocol.reject(*side)
        self._protocol.send_response(response)
        self._flush()
        if self._protocol.state is not State.OPEN or isinstance(side, tuple):
            self._transport.close()
            return
        self._is_open = True
        self._ping_later()
        self.sockets.opened(self, side)

    def _framed(self, frame: Frame) -> None:
        if frame.opcode is Opcode.CLOSE:
            # A browser whose close is confirmed twice takes the whole connection for broken.
            if self._is_open:
                self._flush()
            self._transport.close()
        elif not self._is_open:
            return
        elif frame.opcode in (Opcode.PING, Opcode.PONG):
            self._controlled(frame)
        elif frame.opcode is Opcode.BINARY:
            self.close(_UNSUPPORTED, "Messages are text")
        elif frame.opcode in (Opcode.TEXT, Opcode.CONT):
            self._message(frame)

    def _controlled(self, frame: Frame) -> None:
        if frame.opcode is Opcode.PONG:
            self._waits_for_pong = False
        self._controls += 1
        if self._controls > MOST_CONTROLS:
            # No rate counts them, and each ping is answered.
            self._drop()

    def _message(self, frame: Frame) -> None:
        data = bytes(frame.data)
        if not frame.fin or self._fragments:
            self._fragments.append(data)
            self._size += len(data)
            if len(self._fragments) > MOST_FRAGMENTS:
                return self.close(TOO_MUCH, "rate_limited")
            if self._size > (self._protocol.max_message_size or MAX_BYTES):
                return self.close(TOO_LARGE, "too_large")
            if not frame.fin:
                return None
            data, self._fragments, self._size = b"".join(self._fragments), [], 0
        try:
            if not data.isascii():
                data.decode()
        except UnicodeDecodeError:
            return self.close(_INVALID_TEXT, "Messages are UTF-8")
        self.sockets.received(self, data)
        return None

    def _ping(self) -> None:
        if self._waits_for_pong:
            return self._drop()
        self._waits_for_pong = True
        self._controls = 0
        if not self._transport.is_closing():
            self._transport.write(_PING)
        self._ping_later()
        return None

    def _ping_later(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + PING_SECONDS
        self._timer = loop.call_at(ceil(due / PINGS_TOGETHER) * PINGS_TOGETHER, self._ping)

    def _drop(self) -> None:
        """The other side does not read, or is not there any more."""
        self.close(TOO_MUCH, "slow_reader")
        self._transport.abort()

    def _flush(self) -> None:
        data = b"".join(self._protocol.data_to_send())
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def _later(self, seconds: float, action: Callable[[], object]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, action)

    def _stop(self, timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()


def _head(size: int) -> bytes:
    """How a text of this size begins; frames of a server are so plain that this saves much."""
    if size < _TWO_BYTES:
        return bytes((_TEXT, size))
    if size < 1 << 16:
        return bytes((_TEXT, _TWO_BYTES)) + size.to_bytes(2, "big")
    return bytes((_TEXT, _EIGHT_BYTES)) + size.to_bytes(8, "big")


def sockets_for(sockets: Sockets) -> type[ProxySocket]:
    """The class that uvicorn takes for WebSockets, whose sockets report to this."""
    return type("ServiceSocket", (ProxySocket,), {"sockets": sockets, "__slots__": ()})
