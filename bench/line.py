"""A keep-alive HTTP connection that costs next to nothing: the server is what is measured."""

import asyncio
from typing import cast

HEAD_END = b"\r\n\r\n"
LENGTH = b"content-length: "


class Line(asyncio.Protocol):
    """Sends whole requests as bytes, one at a time; understands answers of known length only."""

    def __init__(self) -> None:
        self._received = b""
        self._answer: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self.head = b""

    @classmethod
    async def open(cls, port: int) -> "Line":
        loop = asyncio.get_running_loop()
        _, line = await loop.create_connection(cls, "127.0.0.1", port)
        return line

    async def ask(self, request: bytes) -> bytes:
        """The body of the answer, which must be a good one."""
        self._answer = asyncio.get_running_loop().create_future()
        self.send(request)
        body = await self._answer
        if not self.head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{self.head.decode()}\n\n{body.decode()}")
        return body

    def send(self, request: bytes) -> None:
        """Send what is answered without end; nobody reads it."""
        assert self._transport is not None
        self._transport.write(request)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._answer is None:
            return
        self._received += data
        head, found, body = self._received.partition(HEAD_END)
        if found and len(body) >= _length(head):
            self.head, self._received = head, b""
            self._settle(body)

    def connection_lost(self, error: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error or ConnectionError("the server closed the connection"))

    def _settle(self, body: bytes) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(body)


def _length(head: bytes) -> int:
    return int(head.lower().partition(LENGTH)[2].partition(b"\r\n")[0])
