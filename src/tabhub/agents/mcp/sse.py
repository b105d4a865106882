"""HTTP+SSE, the transport of the first revision: `GET /sse` streams, `POST /message` sends.

A session lives as long as its stream: it exists before `initialize`, and cannot be resumed.
"""

import asyncio
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, cast

import msgspec

from tabhub.agents.http.messages import (
    CALLER,
    Refused,
    Toolsets,
    accepts_streams,
    named_toolsets,
    query_of,
    read_body,
    refuse,
    require_json,
    send_json,
)
from tabhub.agents.mcp.backend import Backend
from tabhub.agents.mcp.handshake import Channel, Responder, accept, initialize_params
from tabhub.agents.mcp.session import Admit, McpSession, Register
from tabhub.agents.mcp.streams import event_frame
from tabhub.config.clients import MAIN, Client
from tabhub.config.settings import Limits, choose_toolsets
from tabhub.errors import (
    Forbidden,
    Internal,
    NotFound,
    ProtocolError,
    TabhubError,
    TimedOut,
    Unavailable,
)
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Receive, Scope, Send
from tabhub.wire.mcp import messages as m
from tabhub.wire.mcp import versions

log = logging.getLogger(__name__)

PING_SECONDS = 30.0
GROUP_SECONDS = 3.0
"""How long a new stream waits for its tab group."""
MOST_RUNNING = 100
"""Requests of one session at once."""
MOST_EVENTS = 10_000
MOST_BYTES = 32 * 1024 * 1024
"""Events and bytes that may wait to be read; with more, the client reads too slowly."""
TOOLSET = frozenset({"sse"})
"""What a client sees whose URL names no toolsets."""
GROUP_REQUEST = jsonrpc.Incoming(
    jsonrpc="2.0",
    id="tabhub/group",
    method="tools/call",
    params=msgspec.Raw(b'{"name":"tabs_context_mcp","arguments":{"createIfEmpty":true}}'),
)
ACCEPTED = b'{"status":"accepted"}'
UNKNOWN_CLIENT = m.InitializeParams(protocol_version=versions.HANDSHAKE[0])
"""Stands for the client's parameters until it sends `initialize`."""

EndSession = Callable[[str, TabhubError], None]
"""Ends the session of that id with an error."""
Work = Coroutine[Any, Any, object]
Throttle = Callable[[Client, str], None]
"""Called for each message with its session; raises when there are too many."""


class Outbox:
    """A queue of events for one writer."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()
        self.is_closed = False

    @property
    def is_over(self) -> bool:
        """Whether everything is written."""
        return self.is_closed and not self._frames

    @property
    def is_full(self) -> bool:
        """Whether too much waits; a single event may have any size."""
        waiting = len(self._frames)
        return waiting > MOST_EVENTS or (waiting > 1 and self._bytes > MOST_BYTES)

    def put(self, event: bytes, data: bytes) -> None:
        """Add an event, whose data is one line."""
        if not self.is_closed:
            self._add(event, data)

    def fail(self, error: TabhubError) -> None:
        """Replace everything that waits by an error event, and close."""
        if not self.is_closed:
            self._clear()
            data = {"code": error.code, "message": error.message, **error.data()}
            self._add(b"error", msgspec.json.encode(data))
            self.close()

    def close(self) -> None:
        """Accept no more events."""
        self.is_closed = True
        self._wake.set()

    def drop(self) -> None:
        """Discard everything: the client has disconnected."""
        self._clear()
        self.close()

    async def take(self, seconds: float) -> bytes | None:
        """The next event as bytes; None if none comes within this time."""
        if not self._frames and not self.is_closed:
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), seconds)
            except TimeoutError:
                return None
        if not self._frames:
            return None
        frame = self._frames.popleft()
        self._bytes -= len(frame)
        return frame

    def _add(self, event: bytes, data: bytes) -> None:
        frame = event_frame(event, data)
        self._frames.append(frame)
        self._bytes += len(frame)
        self._wake.set()

    def _clear(self) -> None:
        self._frames.clear()
        self._bytes = 0


class SseSession(McpSession):
    """A client for as long as its stream is open."""

    def __init__(self, caller: Client, toolsets: Toolsets, now: float, end: EndSession) -> None:
        id = f"session_{secrets.token_urlsafe(24)}"
        version = UNKNOWN_CLIENT.protocol_version
        super().__init__(id, version, UNKNOWN_CLIENT, caller, toolsets, now)
        self.outbox = Outbox()
        self._end = end

    def send(self, message: bytes) -> None:
        self.outbox.put(b"message", message)
        if self.outbox.is_full:
            self._end(self.id, TimedOut("The client reads the stream too slowly."))

    def close(self, error: TabhubError) -> None:
        super().close(error)
        self.outbox.close()


class SseChannel(Channel):
    """Sends the messages of all requests on the one stream of the session."""

    session: SseSession

    @property
    def may_stream(self) -> bool:
        return True

    async def send(self, data: bytes) -> None:
        self.session.send(data)


class SseEndpoint:
    """Both paths of the transport."""

    def __init__(
        self,
        backend: Backend,
        *,
        clock: Callable[[], float],
        max_body: int = Limits().body_bytes,
        refused: Refused = lambda scope, error: None,
        admit: Admit = lambda caller: None,
        throttle: Throttle = lambda caller, session: None,
        groups: Callable[[], bool] = lambda: False,
    ) -> None:
        self.sessions: Register[SseSession] = Register(backend, clock)
        self._responder = Responder(backend)
        self._clock = clock
        self._max_body = max_body
        self._refused = refused
        self._admit = admit
        self._throttle = throttle
        self._groups = groups
        self._tasks: set[asyncio.Task[None]] = set()

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`GET /sse`."""
        try:
            session = self._open(scope)
        except TabhubError as error:
            await refuse(scope, send, error)
            return
        disconnected = asyncio.create_task(_wait_for_disconnect(receive, session.outbox))
        try:
            await send(_head(session.id))
            if self._groups():
                await self._group(session)
            await _write(session.outbox, send)
        except OSError:
            log.debug("the stream of a session was interrupted")
        finally:
            disconnected.cancel()
            self._end(session)

    async def message(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /message`."""
        try:
            await self._accept(scope, receive)
        except TabhubError as error:
            if isinstance(error, Forbidden):
                self._refused(scope, error)
            await refuse(scope, send, error)
        else:
            await send_json(send, 202, ACCEPTED)

    def close(self) -> None:
        """End all sessions, and with them every stream."""
        self.sessions.close()

    def end(self, id: str, error: TabhubError) -> None:
        """End a session with an error, which its client gets."""
        session = self.sessions.find(id)
        if session is not None:
            session.outbox.fail(error)
            self._end(session)

    def end_of(self, matches: Callable[[str], bool], error: TabhubError) -> None:
        """End the sessions of the clients whose name matches."""
        for session in self.sessions.all():
            if matches(session.caller.name):
                self.end(session.id, error)

    def _open(self, scope: Scope) -> SseSession:
        if not accepts_streams(dict(scope["headers"])):
            raise ProtocolError("A GET must accept text/event-stream.", "not_acceptable")
        toolsets = named_toolsets(scope) or TOOLSET
        choose_toolsets(toolsets)
        caller = scope.get(CALLER, MAIN)
        self._admit(caller)
        session = SseSession(caller, toolsets, self._clock(), self.end)
        session.outbox.put(b"endpoint", b"/message?sessionId=" + session.id.encode())
        self.sessions.add(session)
        return session

    async def _group(self, session: SseSession) -> None:
        """Create the tab group as if the client had requested it, and wait a moment for it."""
        request = self._responder.respond(GROUP_REQUEST, SseChannel(session))
        await asyncio.wait({self._start(session, request)}, timeout=GROUP_SECONDS)

    def _end(self, session: SseSession) -> None:
        if session.id in self.sessions:
            self.sessions.end(session.id)

    async def _accept(self, scope: Scope, receive: Receive) -> None:
        caller = scope.get(CALLER, MAIN)
        session = self._session(scope, caller)
        self._throttle(caller, session.id)
        headers = dict(scope["headers"])
        require_json(headers)
        body = await read_body(headers, receive, self._max_body)
        # The session may have ended while the body was read.
        session = self._session(scope, caller)
        message = jsonrpc.decode_any(body)
        if not isinstance(message, list):
            self._handle(session, message)
        elif versions.has_batches(session.version):
            for _ in message[1:]:
                self._throttle(caller, session.id)
            self._handle_batch(session, message)
        else:
            raise ProtocolError(f"Revision {session.version} has no batches.")

    def _session(self, scope: Scope, caller: Client) -> SseSession:
        id = query_of(scope).get("sessionId")
        if not id:
            raise ProtocolError("The parameter sessionId is missing; GET /sse sends it first.")
        try:
            return self.sessions.get(id, caller)
        except NotFound as error:
            sentence = "There is no such session, or it ended: open a new stream with GET /sse."
            raise NotFound(sentence, error.reason) from None

    def _handle(self, session: SseSession, message: jsonrpc.Incoming) -> None:
        if message.method == "shutdown":
            if not message.is_notification():
                session.send(jsonrpc.success(cast(jsonrpc.Id, message.id), {}))
            self._end(session)
        elif message.method == "initialize" and not message.is_notification():
            session.send(self._initialize(session, message))
        elif not accept(session, message):
            self._begin(session, self._respond(session, message))

    def _handle_batch(self, session: SseSession, messages: list[jsonrpc.Incoming]) -> None:
        requests = [message for message in messages if not accept(session, message)]
        if requests:
            self._begin(session, self._respond_to_batch(session, requests))

    def _initialize(self, session: SseSession, message: jsonrpc.Incoming) -> bytes:
        id = cast(jsonrpc.Id, message.id)
        try:
            params = initialize_params(message)
        except ProtocolError as error:
            return jsonrpc.failure(id, error)
        session.identify(versions.negotiate(params.protocol_version), params)
        return self._responder.initialized(session, id)

    def _begin(self, session: SseSession, work: Work) -> None:
        if len(session.running) >= MOST_RUNNING:
            work.close()
            raise Unavailable(
                f"{MOST_RUNNING} requests of this session are running; wait for them.",
                "too_many_calls",
            )
        self._start(session, work)

    def _start(self, session: SseSession, work: Work) -> "asyncio.Task[None]":
        task = asyncio.create_task(self._guarded(session, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _guarded(self, session: SseSession, work: Work) -> None:
        try:
            await work
        except Exception:
            log.exception("a request over SSE failed")
            self.end(session.id, Internal("Something went wrong inside tabhub."))

    async def _respond(self, session: SseSession, message: jsonrpc.Incoming) -> None:
        channel = SseChannel(session)
        body = await self._responder.respond(message, channel)
        # MCP sends no response to a request that its client cancelled.
        if not channel.cancelled:
            session.send(body)

    async def _respond_to_batch(
        self, session: SseSession, requests: list[jsonrpc.Incoming]
    ) -> None:
        channel = SseChannel(session)
        respond = self._responder.respond
        bodies = await asyncio.gather(*(respond(request, channel) for request in requests))
        session.send(b"[" + b",".join(bodies) + b"]")


def _head(session: str) -> m.Json:
    headers = [
        (b"content-type", b"text/event-stream"),
        (b"cache-control", b"no-cache"),
        (b"connection", b"keep-alive"),
        (b"x-accel-buffering", b"no"),
        (b"x-session-id", session.encode()),
    ]
    return {"type": "http.response.start", "status": 200, "headers": headers}


async def _write(outbox: Outbox, send: Send) -> None:
    """Write events as they come, and pings when they are due, until the outbox is over."""
    clock = asyncio.get_running_loop().time
    due = clock() + PING_SECONDS
    while not outbox.is_over:
        frame = await outbox.take(max(due - clock(), 0))
        if frame is not None:
            await send({"type": "http.response.body", "body": frame, "more_body": True})
        if clock() >= due:
            due = clock() + PING_SECONDS
            outbox.put(b"ping", msgspec.json.encode({"timestamp": int(time.time() * 1000)}))
    await send({"type": "http.response.body", "body": b""})


async def _wait_for_disconnect(receive: Receive, outbox: Outbox) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    outbox.drop()
