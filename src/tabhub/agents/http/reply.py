"""Responses that may become event streams, and noticing that their client disconnects."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from tabhub.agents.http.messages import send_json
from tabhub.wire.asgi import Header, Receive, Send

SSE_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
PING = b": ping\n\n"
KEEPALIVE_SECONDS = 15.0
WATCH_AFTER_SECONDS = 0.02
"""A call that ends sooner never pays for watching its connection."""

T = TypeVar("T")


class Reply:
    """One response: JSON, or an event stream from its first event on."""

    def __init__(self, send: Send, *, may_stream: bool) -> None:
        self._send = send
        # Several tasks of one handler may write at once, and sending may have to wait.
        self._turn = asyncio.Lock()
        self.headers: tuple[Header, ...] = ()
        self.may_stream = may_stream
        self.streaming = False
        self.over = False

    async def frame(self, frame: bytes) -> None:
        """Send an event; the first one turns the response into a stream."""
        async with self._turn:
            if self.may_stream and not self.over:
                await self._begin_stream()
                await self._send({"type": "http.response.body", "body": frame, "more_body": True})

    async def stream(self) -> None:
        """Turn the response into an event stream, if it is not one yet."""
        async with self._turn:
            await self._begin_stream()

    async def json(self, status: int, body: bytes) -> None:
        self.over = True
        await send_json(self._send, status, body, self.headers)

    async def accepted(self) -> None:
        """Respond with 202: a notification or a response of the client was accepted."""
        self.over = True
        await self._start(202, [(b"content-length", b"0"), *self.headers])
        await self._send({"type": "http.response.body", "body": b""})

    async def end(self) -> None:
        """Close the stream; a response that is over stays as it is."""
        async with self._turn:
            if not self.over:
                self.over = True
                await self._send({"type": "http.response.body", "body": b""})

    async def keep_alive(self, wait: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Wait for something to send; a comment from time to time keeps the connection open."""
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


class Watch:
    """Cancels the task that made it when the client disconnects."""

    def __init__(self, receive: Receive) -> None:
        self._task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._receive = receive
        self._watcher: asyncio.Task[None] | None = None
        self.client_left = False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(WATCH_AFTER_SECONDS, self._begin)

    def stop(self) -> None:
        self._timer.cancel()
        if self._watcher is not None:
            self._watcher.cancel()

    def absorb(self) -> None:
        """Undo the cancellation, so that the task ends normally."""
        self._task.uncancel()

    def _begin(self) -> None:
        self._watcher = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.client_left = True
        self._task.cancel()
