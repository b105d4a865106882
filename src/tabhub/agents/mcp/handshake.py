"""The revisions with a handshake: `initialize`, then requests of a session."""

import asyncio
from contextlib import suppress
from typing import cast

from tabhub.agents.mcp import dispatch
from tabhub.agents.mcp.backend import Backend, Exchange, Visitor
from tabhub.agents.mcp.following import follow
from tabhub.agents.mcp.outlet import HandshakeExchange, Outlet
from tabhub.agents.mcp.reply import Reply
from tabhub.agents.mcp.session import Running, Session, Sessions
from tabhub.errors import Forbidden, ProtocolError
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Receive
from tabhub.wire.mcp import messages as m
from tabhub.wire.mcp import versions

_initialize_params = dispatch.ParamsDecoder(m.InitializeParams)
_cancelled_params = dispatch.ParamsDecoder(m.CancelledParams)


async def _set_level(exchange: Exchange, params: m.SetLevelParams) -> m.Result:
    cast(HandshakeExchange, exchange).peer.log_level = params.level
    return m.Result()


async def _subscribe(exchange: Exchange, params: m.UriParams) -> m.Result:
    cast(HandshakeExchange, exchange).peer.subscriptions.add(params.uri)
    return m.Result()


async def _unsubscribe(exchange: Exchange, params: m.UriParams) -> m.Result:
    cast(HandshakeExchange, exchange).peer.subscriptions.discard(params.uri)
    return m.Result()


METHODS = dispatch.HANDSHAKE | {
    "logging/setLevel": dispatch.Method(m.SetLevelParams, "logging", lambda b: _set_level),
    "resources/subscribe": dispatch.Method(m.UriParams, "resources", lambda b: _subscribe),
    "resources/unsubscribe": dispatch.Method(m.UriParams, "resources", lambda b: _unsubscribe),
}


class Handshake:
    """Answers the clients of the handshake era."""

    def __init__(self, backend: Backend, sessions: Sessions) -> None:
        self._backend = backend
        self._sessions = sessions

    def initialize(self, message: jsonrpc.Incoming, visitor: Visitor) -> tuple[Session, bytes]:
        params = _initialize_params(message.params)
        version = versions.negotiate(params.protocol_version)
        session = self._sessions.open(version, params, visitor)
        result = m.InitializeResult(
            protocol_version=session.version,
            capabilities=self._backend.capabilities(),
            server_info=self._backend.info,
            instructions=self._backend.instructions,
        )
        return session, jsonrpc.success(cast(jsonrpc.Id, message.id), result)

    async def post(self, session: Session, message: jsonrpc.Incoming, reply: Reply) -> None:
        if _took(session, message):
            await reply.accepted()
            return
        outlet = Outlet(session, reply)
        await outlet.finish([await self._answer(message, outlet)], batched=False)

    async def post_batch(
        self, session: Session, messages: list[jsonrpc.Incoming], reply: Reply
    ) -> None:
        """Take notifications and responses, answer all requests at once."""
        requests = [message for message in messages if not _took(session, message)]
        if not requests:
            await reply.accepted()
            return
        outlet = Outlet(session, reply)
        bodies = await asyncio.gather(*(self._answer(request, outlet) for request in requests))
        await outlet.finish(bodies, batched=True)

    async def get(
        self, session: Session, last_event_id: str | None, reply: Reply, receive: Receive
    ) -> None:
        """Serve news, or the rest of a stream that broke off."""
        if last_event_id is None:
            stream, position = session.streams.standalone, session.streams.standalone.delivered
        else:
            stream, position = session.streams.resume(last_event_id)
        session.connections += 1
        try:
            await follow(stream, position, reply, receive)
        finally:
            session.connections -= 1

    async def _answer(self, message: jsonrpc.Incoming, outlet: Outlet) -> bytes:
        id, name = cast(jsonrpc.Id, message.id), cast(str, message.method)
        requests = outlet.session.running
        if id in requests:
            return jsonrpc.failure(id, ProtocolError(f"Request {id!r} is already running."))
        requests[id] = running = Running()
        try:
            return jsonrpc.success(id, await self._result(name, message.params, outlet))
        except asyncio.CancelledError:
            if running.ended is None:
                raise
            running.absorb()
            return jsonrpc.failure(id, running.ended)
        except Exception as fault:
            error = dispatch.error_for(fault, name)
            if isinstance(error, Forbidden):
                outlet.status = error.status
            return jsonrpc.failure(id, error)
        finally:
            del requests[id]

    async def _result(self, name: str, raw: dispatch.RawParams, outlet: Outlet) -> m.Result:
        method = dispatch.find(METHODS, self._backend, name)
        if method is None:
            raise dispatch.not_found(name)
        params = method.params(raw)
        return await method.answer(self._backend)(HandshakeExchange(outlet, params.meta), params)


def _took(session: Session, message: jsonrpc.Incoming) -> bool:
    """Handle what needs no answer; whether it was such a message."""
    if message.is_response():
        session.answered(message)
    elif not message.is_notification():
        return False
    elif message.method == "notifications/cancelled":
        with suppress(ProtocolError):
            session.cancel(_cancelled_params(message.params).request_id)
    return True
