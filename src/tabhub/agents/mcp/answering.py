"""Answers the messages of a session, whatever carries them."""

import asyncio
from contextlib import suppress
from typing import cast

import msgspec

from tabhub.agents.mcp import dispatch
from tabhub.agents.mcp.backend import Backend, Exchange
from tabhub.agents.mcp.outlet import HandshakeExchange, Outlet
from tabhub.agents.mcp.session import Running, Session
from tabhub.agents.mcp.subscriptions import require_few
from tabhub.errors import Cancelled, Forbidden, ProtocolError
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m

MOST_BYTES = 64 * 1024
"""Of what a client says of itself, which is kept as long as its session."""

_initialize_params = dispatch.ParamsDecoder(m.InitializeParams)
_cancelled_params = dispatch.ParamsDecoder(m.CancelledParams)


async def _set_level(exchange: Exchange, params: m.SetLevelParams) -> m.Result:
    cast(HandshakeExchange, exchange).peer.log_level = params.level
    return m.Result()


async def _subscribe(exchange: Exchange, params: m.UriParams) -> m.Result:
    subscribed = cast(HandshakeExchange, exchange).peer.subscriptions
    require_few([*subscribed, params.uri])
    subscribed.add(params.uri)
    return m.Result()


async def _unsubscribe(exchange: Exchange, params: m.UriParams) -> m.Result:
    cast(HandshakeExchange, exchange).peer.subscriptions.discard(params.uri)
    return m.Result()


METHODS = dispatch.HANDSHAKE | {
    "logging/setLevel": dispatch.Method(m.SetLevelParams, "logging", lambda b: _set_level),
    "resources/subscribe": dispatch.Method(m.UriParams, "resources", lambda b: _subscribe),
    "resources/unsubscribe": dispatch.Method(m.UriParams, "resources", lambda b: _unsubscribe),
}


class Answers:
    """What a backend says to the clients of the handshake era."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def greeting(self, session: Session, id: jsonrpc.Id) -> bytes:
        """The answer to `initialize`."""
        result = m.InitializeResult(
            protocol_version=session.version,
            capabilities=self._backend.capabilities(),
            server_info=self._backend.info,
            instructions=self._backend.instructions,
        )
        return jsonrpc.success(id, result)

    async def answer(self, message: jsonrpc.Incoming, outlet: Outlet) -> bytes:
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
            outlet.cancelled = isinstance(running.ended, Cancelled)
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
        exchange = HandshakeExchange(outlet, params.meta)
        result = await method.answer(self._backend)(exchange, params)
        if isinstance(result, m.CallResult) and isinstance(result.structured_content, list):
            # These revisions allow an object only; the text says the same.
            result = msgspec.structs.replace(result, structured_content=msgspec.UNSET)
        return result


def introduction(message: jsonrpc.Incoming) -> m.InitializeParams:
    """What a client says of itself."""
    if isinstance(message.params, msgspec.Raw) and len(message.params) > MOST_BYTES:
        raise ProtocolError("What the client says of itself is too long.", "too_large")
    params: m.InitializeParams = _initialize_params(message.params)
    return params


def took(session: Session, message: jsonrpc.Incoming) -> bool:
    """Handle what needs no answer; whether it was such a message."""
    if message.is_response():
        session.answered(message)
    elif not message.is_notification():
        return False
    elif message.method == "notifications/cancelled":
        with suppress(ProtocolError):
            session.cancel(_cancelled_params(message.params).request_id)
    return True
