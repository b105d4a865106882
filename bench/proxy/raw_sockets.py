"""WebSockets written by hand, so that the load costs less than what is measured."""

import asyncio
import ssl
import time
from collections.abc import Callable
from typing import cast

_UPGRADE = (
    "GET {} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
_NO_MASK = b"\0\0\0\0"
"""A mask that changes nothing."""
_TEXT, _PING, _PONG = 0x81, 0x89, 0x8A
_TWO_BYTES, _MASKED = 126, 0x80
ANSWER = b',"result":{"tabs":[{"id":1,"index":0,"title":"A page","url":"https://a.example/"}]}}'


def frame(text: bytes, kind: int = _TEXT) -> bytes:
    """A short frame of a client."""
    size = len(text)
    if size < _TWO_BYTES:
        return bytes((kind, _MASKED | size)) + _NO_MASK + text
    return bytes((kind, _MASKED | _TWO_BYTES)) + size.to_bytes(2, "big") + _NO_MASK + text


class RawSocket(asyncio.Protocol):
    """One socket; `heard` is called with each text, `lost` when it has closed."""

    __slots__ = ("_buffer", "_is_open", "_path", "heard", "lost", "opened", "transport")

    def __init__(self, path: str) -> None:
        self._path = path
        self._buffer = b""
        self._is_open = False
        self.transport: asyncio.Transport
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.heard: Callable[[bytes], None] = lambda text: None
        self.lost: Callable[[], None] = lambda: None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(_UPGRADE.format(self._path).encode())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._is_open:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if b" 101 " not in head:
                self.transport.abort()
                return
            self._is_open, self._buffer = True, rest
            self.opened.set_result(None)
        while (text := self._next()) is not None:
            self.heard(text)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(ConnectionResetError("no WebSocket was opened"))
        self.lost()

    def _next(self) -> bytes | None:
        """The next text that has come whole."""
        while len(self._buffer) >= 2:
            kind, size, start = self._buffer[0], self._buffer[1], 2
            if size == _TWO_BYTES:
                size, start = int.from_bytes(self._buffer[2:4], "big"), 4
            if len(self._buffer) < start + size:
                return None
            body, self._buffer = self._buffer[start : start + size], self._buffer[start + size :]
            if kind == _TEXT:
                return body
            if kind == _PING:
                self.transport.write(frame(body, _PONG))
        return None


async def opened(
    port: int, path: str, tls: ssl.SSLContext | None = None, source: str = "127.0.0.1"
) -> RawSocket:
    """A socket from an address of this machine."""
    loop = asyncio.get_running_loop()
    name = "localhost" if tls else None
    _, socket = await loop.create_connection(
        lambda: RawSocket(path),
        "127.0.0.1",
        port,
        ssl=tls,
        server_hostname=name,
        local_addr=(source, 0),
    )
    await socket.opened
    return socket


def answer_all(socket: RawSocket) -> None:
    """Answer each request with the id that it has, as it stands."""

    def answer(text: bytes) -> None:
        head, _, rest = text.partition(b',"method"')
        if rest and b'"id":' in head:
            socket.transport.write(frame(head + ANSWER))

    socket.heard = answer


class Calls:
    """A client that calls again as soon as it has an answer."""

    def __init__(self, socket: RawSocket) -> None:
        self._socket = socket
        self._left = 0
        self._id = 10
        self._sent_at = 0.0
        self.seconds: list[float] = []
        """How long each round trip took."""
        self._done: asyncio.Future[None]

    async def run(self, count: int) -> None:
        self.seconds = []
        self._left = count
        self._done = asyncio.get_running_loop().create_future()
        self._socket.heard = self._heard
        self._send()
        await self._done

    def _send(self) -> None:
        self._id += 1
        text = b'{"jsonrpc":"2.0","id":%d,"method":"getTabs","params":{}}' % self._id
        self._sent_at = time.perf_counter()
        self._socket.transport.write(frame(text))

    def _heard(self, text: bytes) -> None:
        if b'"result"' not in text:
            return
        self.seconds.append(time.perf_counter() - self._sent_at)
        self._left -= 1
        if self._left:
            self._send()
        else:
            self._done.set_result(None)
