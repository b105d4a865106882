"""One HTTP answer that is plain JSON until something streams, and an event stream from then on."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tabhub.agents.http.messages import send_json
from tabhub.wire.asgi import Header, Send

SSE_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
PING = b": ping\n\n"
KEEPALIVE_SECONDS = 15.0

T = TypeVar("T")


class Reply:
    """Writes the answer; knows whether it is still to begin, streaming, or over."""

    def __init__(self, send: Send, *, may_stream: bool) -> None:
        self._send = send
        # Several tasks of one handler may speak at once, and sending may have to wait.
        self._turn = asyncio.Lock()
        self.headers: tuple[Header, ...] = ()
        self.may_stream = may_stream
        self.streaming = False
        self.over = False

    async def frame(self, frame: bytes) -> None:
        """Send an event; the first one turns the answer into a stream."""
        async with self._turn:
            if self.may_stream and not self.over:
                await self._begin_stream()
                await self._send({"type": "http.response.body", "body": frame, "more_body": True})

    async def stream(self) -> None:
        """Become an event stream, if this is not one yet."""
        async with self._turn:
            await self._begin_stream()

    async def json(self, status: int, body: bytes) -> None:
        self.over = True
        await send_json(self._send, status, body, self.headers)

    async def accepted(self) -> None:
        """A notification or a response has been taken; there is nothing to say."""
        self.over = True
        await self._start(202, [(b"content-length", b"0"), *self.headers])
        await self._send({"type": "http.response.body", "body": b""})

    async def end(self) -> None:
        """Close a stream; without effect on an answer that is over."""
        async with self._turn:
            if not self.over:
                self.over = True
                await self._send({"type": "http.response.body", "body": b""})

    async def keep_alive(self, wait: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Wait for something to say; a comment now and then shows that we are still here."""
        while True:
            try:
                return await asyncio.wait_for(wait(), KEEPALIVE_SECONDS)
            except TimeoutError:
                await self.frame(PING)

    async def _begin_stream(self) -> None:
        if not self.streaming:
            self.streaming = True
            await self._start(200, [*SSE_HEADERS, *self.headers])

    async def _start(self, status: int, headers: list[Header]) -> None:
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
