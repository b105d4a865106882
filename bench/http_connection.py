"""A keep-alive HTTP connection that uses almost no CPU: only the server is measured."""

import asyncio
from typing import cast

HEAD_END = b"\r\n\r\n"
LENGTH = b"content-length: "


class HttpConnection(asyncio.Protocol):
    """Sends encoded requests, one at a time; reads only responses with a content length."""

    def __init__(self) -> None:
        self._received = b""
        self._response: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self.head = b""

    @classmethod
    async def open(cls, port: int) -> "HttpConnection":
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(cls, "127.0.0.1", port)
        return connection

    async def ask(self, request: bytes) -> bytes:
        """Send a request and return the body of the response, which must have status 200."""
        self._response = asyncio.get_running_loop().create_future()
        self.send(request)
        body = await self._response
        if not self.head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{self.head.decode()}\n\n{body.decode()}")
        return body

    def send(self, request: bytes) -> None:
        """Send a request whose response, a stream, is not read."""
        assert self._transport is not None
        self._transport.write(request)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._response is None:
            return
        self._received += data
        head, found, body = self._received.partition(HEAD_END)
        if found and len(body) >= _length(head):
            self.head, self._received = head, b""
            self._settle(body)

    def connection_lost(self, error: Exception | None) -> None:
        if self._response is not None and not self._response.done():
            self._response.set_exception(
                error or ConnectionError("the server closed the connection")
            )

    def _settle(self, body: bytes) -> None:
        if self._response is not None and not self._response.done():
            self._response.set_result(body)


def _length(head: bytes) -> int:
    return int(head.lower().partition(LENGTH)[2].partition(b"\r\n")[0])
