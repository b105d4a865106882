"""`GET /calls`: the calls of all agents as they begin and end, for the person's own terminal."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Literal, Protocol

import msgspec

from tabhub.agents.http.messages import KEEPALIVE_SECONDS, PING, SSE_HEADERS, as_query, query_of
from tabhub.agents.mcp.streams import event_frame
from tabhub.errors import Unavailable
from tabhub.wire.asgi import Receive, Scope, Send
from tabhub.wire.panel_calls import InvocationEnd, InvocationStart

MOST_STREAMS = 8
MOST_WAITING = 1000
"""Events that wait to be read; one more pushes out the oldest."""

MOST_ASKED = 200
"""How many of the calls that wait for the person are named.

In the browser fewer can wait; only agents that ask the person themselves can have more.
"""

EventName = Literal["start", "end"]
Listener = Callable[[EventName, InvocationStart], None]


class CallEvents(Protocol):
    """What is known about calls."""

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Report each start and end from now on; returns what ends that."""

    def running(self) -> list[InvocationStart]:
        """The calls that run now."""

    def ended_lately(self) -> list[InvocationEnd]:
        """The last calls that have ended, the newest last."""


class AskedCalls(Protocol):
    """The calls that wait for the person's answer."""

    @property
    def asked(self) -> Sequence[msgspec.Struct]: ...

    def on_change(self, listener: Callable[[], None]) -> None: ...


class StreamQuery(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of the URL."""

    recent: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    """How many of the calls that have ended come first."""


class CallStream:
    """The endpoint, with all its open streams."""

    def __init__(self, events: CallEvents, approvals: AskedCalls) -> None:
        self._events = events
        self._approvals = approvals
        self._queues: set[asyncio.Queue[bytes | None]] = set()
        approvals.on_change(self._notify_asked)

    def close(self) -> None:
        """End all streams: the server stops."""
        for queue in self._queues:
            while queue.full():
                queue.get_nowait()
            queue.put_nowait(None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = as_query(query_of(scope), StreamQuery, strict=False)
        if len(self._queues) >= MOST_STREAMS:
            raise Unavailable(f"{MOST_STREAMS} streams of calls are open already.", "rate_limited")
        await send({"type": "http.response.start", "status": 200, "headers": [*SSE_HEADERS]})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_WAITING)
        stop = self._events.listen(lambda name, call: _put(queue, name, call))
        self._queues.add(queue)
        ended = self._events.ended_lately()
        for call in ended[max(len(ended) - query.recent, 0) :]:
            _put(queue, "end", call)
        for running in self._events.running():
            _put(queue, "start", running)
        if self._approvals.asked:
            _put_frame(queue, self._asked_frame())
        writing = asyncio.create_task(_write(queue, send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop()
            self._queues.discard(queue)
            for task in (writing, leaving):
                task.cancel()
                with suppress(asyncio.CancelledError, OSError):
                    await task

    def _notify_asked(self) -> None:
        if not self._queues:
            return
        frame = self._asked_frame()
        for queue in self._queues:
            _put_frame(queue, frame)

    def _asked_frame(self) -> bytes:
        asked = self._approvals.asked
        facts = {"count": len(asked), "calls": asked[:MOST_ASKED]}
        return event_frame(b"asked", msgspec.json.encode(facts))


def _put(queue: "asyncio.Queue[bytes | None]", name: EventName, call: InvocationStart) -> None:
    _put_frame(queue, event_frame(name.encode(), msgspec.json.encode(call)))


def _put_frame(queue: "asyncio.Queue[bytes | None]", frame: bytes) -> None:
    if queue.full():
        # Of what a slow reader misses, the latest matters most: it says how things are.
        queue.get_nowait()
    queue.put_nowait(frame)


async def _write(queue: "asyncio.Queue[bytes | None]", send: Send) -> None:
    # At once, so that the other end knows that it is connected.
    frame: bytes | None = PING
    while frame is not None:
        await send({"type": "http.response.body", "body": frame, "more_body": True})
        try:
            frame = await asyncio.wait_for(queue.get(), KEEPALIVE_SECONDS)
        except TimeoutError:
            frame = PING
    await send({"type": "http.response.body", "body": b""})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
