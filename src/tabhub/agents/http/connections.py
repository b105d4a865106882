"""The server's HTTP connections: how many each client may hold, and how long one may stay silent.

A connection is anonymous until a request on it has shown a token. When there are too many
anonymous ones, the oldest is closed, so a client with a token always finds a slot. Heads, bodies
and pauses have limits: a client without a token can neither fill the memory nor hold connections
by staying silent, and a client that stops reading is dropped.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tabhub.agents.http.messages import CALLER
from tabhub.config.clients import Client
from tabhub.errors import ProtocolError, TabhubError, Unavailable

MOST_ANONYMOUS = 200
MOST_KNOWN = 600
MOST_OF_ONE = 300
RESERVED = 100
"""Extra slots for the person, who can then still stop a flood."""

MAX_HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10.0
BODY_SECONDS = 30.0
"""For the whole body: on one machine ten megabytes take far less."""
ANONYMOUS_SECONDS = 5
"""How long an idle connection without a token is kept."""
STALL_SECONDS = 30.0
"""How long a client may leave a response unread."""

HEAD = b"HTTP/"
"""How the head of a response begins."""
LENGTH = b"\r\ncontent-length: "
"""What the head of a stream lacks; a head that has it waits for its first body."""

SLOT = "tabhub.slot"
"""Key of a scope: the slot of the request's connection."""

Close = Callable[[], None]


class Slot:
    """The place of one connection, and which client holds it."""

    def __init__(self, connections: "Connections", close: Close) -> None:
        self._connections = connections
        self.close = close
        self.holder: str | None = None

    def take(self, client: Client, *, urgent: bool = False) -> None:
        """Assign the slot to the client of a request; raises if that client has too many."""
        if self.holder != client.name:
            self._connections.assign(self, client, urgent)

    def free(self) -> None:
        self._connections.forget(self)


class Connections:
    """Every HTTP connection, by the client that holds it."""

    def __init__(self) -> None:
        self._anonymous: dict[Slot, None] = {}
        self._known: dict[Slot, None] = {}
        self._of: Counter[str] = Counter()

    def add(self, close: Close) -> Slot:
        """Add a connection; `close` ends it."""
        slot = Slot(self, close)
        self._anonymous[slot] = None
        if len(self._anonymous) > MOST_ANONYMOUS:
            oldest = next(iter(self._anonymous))
            del self._anonymous[oldest]
            oldest.close()
        return slot

    def assign(self, slot: Slot, client: Client, urgent: bool) -> None:
        reserve = RESERVED if client.is_person else 0
        is_full = len(self._known) >= MOST_KNOWN + reserve
        if is_full or self._of[client.name] >= MOST_OF_ONE + (reserve if urgent else 0):
            raise Unavailable("Too many connections are open.", "server_unavailable")
        self.forget(slot)
        slot.holder = client.name
        self._known[slot] = None
        self._of[client.name] += 1

    def forget(self, slot: Slot) -> None:
        self._anonymous.pop(slot, None)
        if slot in self._known:
            del self._known[slot]
            self._of.subtract([str(slot.holder)])
            if not self._of[str(slot.holder)]:
                del self._of[str(slot.holder)]

    def of(self, matches: Callable[[str], bool]) -> list[Slot]:
        """The slots of the clients whose name matches."""
        return [slot for slot in self._known if matches(str(slot.holder))]


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


class JoinedWrites:
    """A transport that sends the head of a response together with the body that follows at once.

    Apart they are two packets, for which the client wakes up twice. The head of a stream, which has
    no body yet, leaves in the next step of the loop. A head with a length waits for its first body,
    or for `flush`; so a response with a length must begin its body at once.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self.transport = transport
        self._loop = loop
        self._head = b""

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(HEAD):
            self._head = data
            if LENGTH not in data:
                self._loop.call_soon(self.flush)
            return
        self.transport.write(data)

    def close(self) -> None:
        self.flush()
        self.transport.close()

    def abort(self) -> None:
        self.transport.abort()

    def is_closing(self) -> bool:
        return self.transport.is_closing()

    def flush(self) -> None:
        if self._head:
            self.write(b"")


class BoundedHttp(HttpToolsProtocol):
    """uvicorn's protocol with limits: it reads heads of any size and waits without end."""

    slots: Connections
    _slot: Slot
    _head_bytes = 0
    _heads_begun = 0
    _in_head = False
    _in_body = False
    _timer: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._writes = JoinedWrites(transport, self.loop)
        self.transport = cast(asyncio.Transport, self._writes)
        # `close` would wait for a client that does not read.
        self._slot = self.slots.add(transport.abort)
        self._start_timer(HEAD_SECONDS, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._end_stall()
        self._slot.free()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: Any = self.scope
        scope[SLOT] = self._slot
        self._in_head, self._head_bytes = True, 0
        self._heads_begun += 1

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count trailers without keeping them: they are not used, and they could be endless.

        The rest is as uvicorn does it; a second call for each header would cost more than that.
        """
        if self._in_head:
            name = name.lower()
            if name == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
            self.headers.append((name, value))
            return
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(TOO_LARGE)

    def on_headers_complete(self) -> None:
        self._in_head, self._in_body, self._head_bytes = False, True, 0
        if self._timer is not None:
            self._stop_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_body = False
        if self._timer is not None:
            self._stop_timer()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        # From here on the connection belongs to the WebSocket protocol.
        self._in_body = False
        self._stop_timer()
        self._slot.free()
        self.transport = self._writes.transport
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        self._heads_begun = 0
        super().data_received(data)
        # Most requests arrive in one piece and never need a timer.
        if self._in_head:
            # The last of several requests in one piece has only begun.
            self._head_bytes += len(data) if self._heads_begun < 2 else 0
            self._start_timer(HEAD_SECONDS, self.transport.close)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(TOO_LARGE)
        elif self._in_body:
            self._start_timer(BODY_SECONDS, self._give_up_body)

    def on_response_complete(self) -> None:
        # A HEAD request gets a length, and no body.
        self._writes.flush()
        scope: Any = self.cycle.scope
        is_known = scope.get(CALLER) is not None
        seconds = self.config.timeout_keep_alive
        self.timeout_keep_alive = seconds if is_known else min(seconds, ANONYMOUS_SECONDS)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        self._in_head = self._in_body = False
        self._refuse(NOT_HTTP)

    def pause_writing(self) -> None:
        super().pause_writing()
        # `close` would wait for the client to read.
        self._stall = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_stall()

    def _start_timer(self, seconds: float, then: Callable[[], None]) -> None:
        """Start the timer, unless one is running."""
        if self._timer is None:
            self._timer = self.loop.call_later(seconds, then)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _give_up_body(self) -> None:
        """Respond in place of the application, which then sees a disconnected client."""
        if self.cycle.response_started:
            self.transport.close()
        else:
            self._refuse(TOO_LATE)

    def _refuse(self, response: bytes) -> None:
        self.transport.write(response)
        self.transport.close()


def protocol(connections: Connections) -> type[BoundedHttp]:
    """The protocol class of one server, whose connections are counted together."""
    return type("Http", (BoundedHttp,), {"slots": connections})
