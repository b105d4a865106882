"""The `/mcp` endpoint: Streamable HTTP for every revision. Raw ASGI, because it is a hot path."""

import asyncio
from collections.abc import Callable
from typing import cast

import msgspec

from tabhub.agents.http.messages import (
    CALLER,
    Refused,
    Reply,
    Toolsets,
    accepts_streams,
    headers_of,
    named_toolsets,
    read_body,
    require_json,
)
from tabhub.agents.mcp.backend import Backend
from tabhub.agents.mcp.handshake import PostChannel, Responder, accept, initialize_params
from tabhub.agents.mcp.session import Admit, McpSession, Sessions, SessionStore
from tabhub.agents.mcp.sessionless import Sessionless
from tabhub.agents.mcp.streams import EventStream
from tabhub.config.clients import MAIN, Client
from tabhub.config.settings import Limits, SessionSettings
from tabhub.errors import Forbidden, ProtocolError, TabhubError
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Receive, Scope, Send
from tabhub.wire.mcp import headers as h
from tabhub.wire.mcp import versions

SESSION = b"mcp-session-id"

Headers = dict[bytes, bytes]


class McpEndpoint:
    """Reads requests and hands them to the era that they belong to."""

    def __init__(
        self,
        backend: Backend,
        *,
        clock: Callable[[], float],
        idle_seconds: float = SessionSettings().idle_minutes * 60,
        max_body: int = Limits().body_bytes,
        store: SessionStore | None = None,
        refused: Refused = lambda scope, error: None,
        admit: Admit = lambda caller: None,
    ) -> None:
        self.sessions = Sessions(backend, clock, idle_seconds, store)
        self._refused = refused
        self._admit = admit
        self._handshake = Handshake(backend, self.sessions)
        self._sessionless = Sessionless(backend)
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = dict(scope["headers"])
        reply = Reply(send, may_stream=accepts_streams(headers))
        body = b""
        try:
            if scope["method"] == "POST":
                require_json(headers)
                body = await read_body(headers, receive, self._max_body)
                await self._post(scope, headers, body, reply, receive)
            else:
                await self._get_or_delete(scope, headers, reply, receive)
        except TabhubError as error:
            if isinstance(error, Forbidden):
                self._refused(scope, error)
            reply.headers = (*reply.headers, *headers_of(error))
            await reply.json(error.status, jsonrpc.failure(jsonrpc.id_of(body), error))

    def close(self) -> None:
        """End sessions and subscriptions, and with them every open stream."""
        self.sessions.close()
        self._sessionless.close()

    async def _post(
        self, scope: Scope, headers: Headers, body: bytes, reply: Reply, receive: Receive
    ) -> None:
        message = jsonrpc.decode_any(body)
        caller, version = scope.get(CALLER, MAIN), h.value_of(headers, h.VERSION)
        if isinstance(message, list):
            session = self._session(headers, version, caller)
            if not versions.has_batches(session.version):
                raise ProtocolError(f"Revision {session.version} has no batches.")
            await self._handshake.post_batch(session, message, reply)
        elif version in versions.SESSIONLESS or _has_envelope(headers, message):
            if len(headers) != len(scope["headers"]):
                h.refuse_duplicates(scope["headers"])
            toolsets = named_toolsets(scope)
            await self._sessionless.post(message, headers, caller, toolsets, reply, receive)
        elif message.method == "initialize" and not message.is_notification():
            toolsets = named_toolsets(scope)
            self._admit(caller)
            session, body = self._handshake.initialize(message, caller, toolsets)
            reply.headers = ((SESSION, session.id.encode()),)
            await reply.json(200, body)
        else:
            session = self._session(headers, version, caller)
            await self._handshake.post(session, message, reply)

    async def _get_or_delete(
        self, scope: Scope, headers: Headers, reply: Reply, receive: Receive
    ) -> None:
        method: str = scope["method"]
        version = h.value_of(headers, h.VERSION)
        sessionless = version in versions.SESSIONLESS
        if method not in ("GET", "DELETE") or sessionless:
            allow = "POST" if sessionless else "GET, POST, DELETE"
            raise ProtocolError(f"{method} is not allowed here.", "method_not_allowed", allow=allow)
        session = self._session(headers, version, scope.get(CALLER, MAIN))
        if method == "DELETE":
            self.sessions.end(session.id)
            await reply.json(200, b"{}")
            return
        if not reply.may_stream:
            raise ProtocolError("A GET must accept text/event-stream.", "not_acceptable")
        await self._handshake.get(session, h.value_of(headers, b"last-event-id"), reply, receive)

    def _session(self, headers: Headers, version: str | None, caller: Client) -> McpSession:
        if version is not None and version not in versions.SUPPORTED:
            raise h.unsupported(version)
        id = h.value_of(headers, SESSION)
        if id is None:
            raise ProtocolError("The header Mcp-Session-Id is missing; send initialize first.")
        return self.sessions.get(id, caller)


def _has_envelope(headers: Headers, message: jsonrpc.Incoming) -> bool:
    """Whether the body is sessionless; then the missing headers are reported as errors."""
    if SESSION in headers or not isinstance(message.params, msgspec.Raw):
        return False
    return h.claims_envelope(message.params)


class Handshake:
    """Streamable HTTP in the handshake era."""

    def __init__(self, backend: Backend, sessions: Sessions) -> None:
        self._responder = Responder(backend)
        self._sessions = sessions

    def initialize(
        self, message: jsonrpc.Incoming, caller: Client, toolsets: Toolsets
    ) -> tuple[McpSession, bytes]:
        """Open a session; returns it with the response."""
        params = initialize_params(message)
        version = versions.negotiate(params.protocol_version)
        session = self._sessions.open(version, params, caller, toolsets)
        return session, self._responder.initialized(session, cast(jsonrpc.Id, message.id))

    async def post(self, session: McpSession, message: jsonrpc.Incoming, reply: Reply) -> None:
        if accept(session, message):
            await reply.accepted()
            return
        channel = PostChannel(session, reply)
        await channel.finish([await self._responder.respond(message, channel)], batched=False)

    async def post_batch(
        self, session: McpSession, messages: list[jsonrpc.Incoming], reply: Reply
    ) -> None:
        """Accept notifications and responses, answer all requests at once."""
        requests = [message for message in messages if not accept(session, message)]
        if not requests:
            await reply.accepted()
            return
        channel = PostChannel(session, reply)
        respond = self._responder.respond
        bodies = await asyncio.gather(*(respond(request, channel) for request in requests))
        await channel.finish(bodies, batched=True)

    async def get(
        self, session: McpSession, last_event_id: str | None, reply: Reply, receive: Receive
    ) -> None:
        """Send notifications, or resume a stream after its last event."""
        if last_event_id is None:
            stream, position = session.streams.standalone, session.streams.standalone.delivered
        else:
            stream, position = session.streams.resume(last_event_id)
        session.connections += 1
        try:
            await _follow(stream, position, reply, receive)
        finally:
            session.connections -= 1


async def _follow(stream: EventStream, position: int, reply: Reply, receive: Receive) -> None:
    """Write a stream's events as they come, until it ends or the client disconnects."""
    reader = stream.attach(position)
    disconnected = asyncio.create_task(_wait_for_disconnect(receive, reader.wake))
    try:
        await reply.stream()
        while not disconnected.done():
            reader.wake.clear()
            for frame in stream.take(reader):
                await reply.frame(frame)
            if stream.done and not reader.wake.is_set():
                break
            await reply.keep_alive(reader.wake.wait)
    finally:
        stream.detach(reader)
        disconnected.cancel()
    await reply.end()


async def _wait_for_disconnect(receive: Receive, wake: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    wake.set()
