"""A small HTTP/1.1 client with event streams: one request at a time on a connection."""

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from contextlib import suppress
from select import select
from typing import NamedTuple

import httptools

from tabhub.wire.asgi import Header

READ_BYTES = 64 * 1024
HOST = "127.0.0.1"


class HttpResponse:
    """The head of a response, and its body as it arrives."""

    def __init__(
        self, connection: "HttpConnection", status: int, headers: dict[bytes, bytes]
    ) -> None:
        self._connection = connection
        self.status = status
        self.headers = headers

    @property
    def is_stream(self) -> bool:
        return self.headers.get(b"content-type", b"").startswith(b"text/event-stream")

    async def chunks(self) -> AsyncIterator[bytes]:
        while (chunk := await self._connection.chunk()) is not None:
            yield chunk

    async def body(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])


class HttpConnection:
    """A connection that can be used again once the response has been read to the end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._chunks: deque[bytes] = deque()
        self._headers: dict[bytes, bytes] = {}
        self._has_head = False
        self._is_over = True
        self._is_kept = True

    @classmethod
    async def open(cls, port: int) -> "HttpConnection":
        return cls(*await asyncio.open_connection(HOST, port))

    @property
    def is_idle(self) -> bool:
        """Whether another request can be sent on it."""
        return self._is_over and self._is_kept and not self._writer.is_closing()

    @property
    def is_gone(self) -> bool:
        """Whether the server has closed an idle connection; the event loop may not know yet."""
        socket = self._writer.get_extra_info("socket")
        return self._reader.at_eof() or bool(select([socket], [], [], 0)[0])

    def close(self) -> None:
        self._writer.close()

    async def request(
        self,
        method: str,
        path: str,
        headers: Iterable[Header],
        body: bytes = b"",
        sent: asyncio.Event | None = None,
    ) -> HttpResponse:
        """Send a request and wait for the head of the response; `sent` is set in between."""
        self._has_head = self._is_over = False
        self._headers = {}
        self._parser = httptools.HttpResponseParser(self)
        length = [(b"content-length", b"%d" % len(body))] if method == "POST" else []
        lines = b"".join(b"%s: %s\r\n" % header for header in [*headers, *length])
        self._writer.write(f"{method} {path} HTTP/1.1\r\nhost: {HOST}\r\n".encode() + lines)
        self._writer.write(b"\r\n" + body)
        # A server may refuse before it has read everything; its response can still be read.
        with suppress(ConnectionError):
            await self._writer.drain()
        if sent is not None:
            sent.set()
        while not self._has_head:
            await self._feed()
        return HttpResponse(self, self._parser.get_status_code(), self._headers)

    async def chunk(self) -> bytes | None:
        """The next piece of the body; None at its end."""
        while not self._chunks and not self._is_over:
            await self._feed()
        return self._chunks.popleft() if self._chunks else None

    async def _feed(self) -> None:
        data = await self._reader.read(READ_BYTES)
        if not data:
            raise ConnectionResetError("the server closed the connection")
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            raise ConnectionAbortedError(f"the response is not HTTP: {error}") from None

    # Callbacks of the parser.

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self._has_head = True

    def on_body(self, body: bytes) -> None:
        self._chunks.append(body)

    def on_message_complete(self) -> None:
        self._is_over = True
        self._is_kept = self._parser.should_keep_alive()


class ServerSentEvent(NamedTuple):
    """One event, with the fields that MCP uses."""

    data: bytes
    id: str | None = None
    retry_ms: int | None = None


async def events(chunks: AsyncIterable[bytes]) -> AsyncIterator[ServerSentEvent]:
    """Yield each complete event; an incomplete one at the end is dropped."""
    rest: list[bytes] = []
    fields: list[tuple[bytes, bytes]] = []
    async for chunk in chunks:
        *lines, last = chunk.split(b"\n")
        for line in lines:
            whole = b"".join([*rest, line]).removesuffix(b"\r")
            rest.clear()
            if whole.startswith(b":"):
                continue
            if whole:
                name, _, value = whole.partition(b":")
                fields.append((name, value.removeprefix(b" ")))
            elif fields:
                yield _event(fields)
                fields = []
        rest.append(last)


def _event(fields: list[tuple[bytes, bytes]]) -> ServerSentEvent:
    named = dict(fields)
    retry = named.get(b"retry", b"")
    return ServerSentEvent(
        data=b"\n".join(value for name, value in fields if name == b"data"),
        id=named[b"id"].decode("latin-1") if b"id" in named else None,
        retry_ms=int(retry) if retry.isdigit() else None,
    )
