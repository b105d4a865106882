"""The `/mcp` endpoint: reads a request, tells the eras apart, hands over. Raw ASGI: it is hot."""

from collections.abc import Callable

import msgspec

from tabhub.agents.http.messages import (
    CALLER,
    accepts_streams,
    headers_of,
    named_toolsets,
    read_body,
    require_json,
)
from tabhub.agents.mcp.backend import Backend
from tabhub.agents.mcp.handshake import Handshake
from tabhub.agents.mcp.reply import Reply
from tabhub.agents.mcp.session import Memory, Session, Sessions
from tabhub.agents.mcp.sessionless import Sessionless
from tabhub.config.clients import MAIN, Client
from tabhub.config.settings import Limits, SessionSettings
from tabhub.errors import Forbidden, ProtocolError, TabhubError
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Receive, Scope, Send
from tabhub.wire.mcp import headers as h
from tabhub.wire.mcp import versions

Headers = dict[bytes, bytes]
Refused = Callable[[Scope, TabhubError], None]
"""Hears of what a client tried and may not do."""

Admit = Callable[[Client], None]
"""Raises when a client opens sessions too often."""

SESSION = b"mcp-session-id"


class McpEndpoint:
    """Streamable HTTP for every revision, on one path."""

    def __init__(
        self,
        backend: Backend,
        *,
        clock: Callable[[], float],
        idle_seconds: float = SessionSettings().idle_minutes * 60,
        max_body: int = Limits().body_bytes,
        memory: Memory | None = None,
        refused: Refused = lambda scope, error: None,
        admit: Admit = lambda caller: None,
    ) -> None:
        self.sessions = Sessions(backend, clock, idle_seconds, memory)
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
                await self._other(scope, headers, reply, receive)
        except TabhubError as error:
            if isinstance(error, Forbidden):
                self._refused(scope, error)
            reply.headers = (*reply.headers, *headers_of(error))
            await reply.json(error.status, jsonrpc.failure(jsonrpc.id_of(body), error))

    def close(self) -> None:
        """End sessions and subscriptions, so that every open stream ends by itself."""
        self.sessions.close()
        self._sessionless.close()

    async def _post(
        self, scope: Scope, headers: Headers, body: bytes, reply: Reply, receive: Receive
    ) -> None:
        message = jsonrpc.decode_any(body)
        caller = scope.get(CALLER, MAIN)
        if isinstance(message, list):
            session = self._session(headers, caller)
            if not versions.has_batches(session.version):
                raise ProtocolError(f"Revision {session.version} has no batches.")
            await self._handshake.post_batch(session, message, reply)
        elif _is_sessionless(headers, message):
            if len(headers) != len(scope["headers"]):
                h.refuse_duplicates(scope["headers"])
            toolsets = named_toolsets(scope)
            await self._sessionless.post(message, headers, caller, toolsets, reply, receive)
        elif message.method == "initialize" and not message.is_notification():
            toolsets = named_toolsets(scope)
            self._admit(caller)
            session, answer = self._handshake.initialize(message, caller, toolsets)
            reply.headers = ((SESSION, session.id.encode()),)
            await reply.json(200, answer)
        else:
            await self._handshake.post(self._session(headers, caller), message, reply)

    async def _other(self, scope: Scope, headers: Headers, reply: Reply, receive: Receive) -> None:
        method: str = scope["method"]
        sessionless = h.value_of(headers, h.VERSION) in versions.SESSIONLESS
        if method not in ("GET", "DELETE") or sessionless:
            allow = "POST" if sessionless else "GET, POST, DELETE"
            raise ProtocolError(f"{method} is not allowed here.", "method_not_allowed", allow=allow)
        session = self._session(headers, scope.get(CALLER, MAIN))
        if method == "DELETE":
            self.sessions.end(session.id)
            await reply.json(200, b"{}")
            return
        if not reply.may_stream:
            raise ProtocolError("A GET must accept text/event-stream.", "not_acceptable")
        await self._handshake.get(session, h.value_of(headers, b"last-event-id"), reply, receive)

    def _session(self, headers: Headers, caller: Client) -> Session:
        version = h.value_of(headers, h.VERSION)
        if version is not None and version not in versions.SUPPORTED:
            raise h.unsupported(version)
        id = h.value_of(headers, SESSION)
        if id is None:
            raise ProtocolError("The header Mcp-Session-Id is missing; send initialize first.")
        return self.sessions.get(id, caller)


def _is_sessionless(headers: Headers, message: jsonrpc.Incoming) -> bool:
    """By header, or by a body that says so: then its headers will be found wanting."""
    if h.value_of(headers, h.VERSION) in versions.SESSIONLESS:
        return True
    if SESSION in headers or not isinstance(message.params, msgspec.Raw):
        return False
    return h.claims_envelope(message.params)
