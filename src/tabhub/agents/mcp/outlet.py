"""Where the requests of a session speak while they are answered.

Over Streamable HTTP that is the answer to their POST: JSON, or an event stream from the first
thing it says. The stream belongs to the session, not to the connection: what is said after the
connection is gone is kept, and the client may come back for it.
"""

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Any, cast

import msgspec

from tabhub.agents.http.reply import Reply
from tabhub.agents.mcp import backend as dispatch
from tabhub.agents.mcp.backend import Backend, Exchange
from tabhub.agents.mcp.elicitation import Ask
from tabhub.agents.mcp.session import Running, Session
from tabhub.agents.mcp.streams import EventStream
from tabhub.agents.mcp.subscriptions import require_few
from tabhub.errors import Cancelled, Forbidden, ProtocolError
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m
from tabhub.wire.mcp import versions

RETRY_MS = 500
"""How soon a client whose stream we closed should come back."""


class Outlet(ABC):
    """Where the requests of one message speak: several of them when it is a batch."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.status = 200
        """Of an answer that is no stream."""
        self.cancelled = False
        """Whether the client took a request back."""

    @property
    @abstractmethod
    def may_stream(self) -> bool:
        """Whether anything can be said before the answer."""

    @abstractmethod
    async def emit(self, data: bytes) -> None:
        """Send a message that is no answer."""

    async def let_go(self) -> None:
        """Close the connection, where a client can come back for the rest."""
        return


class PostOutlet(Outlet):
    """The answer to one POST."""

    def __init__(self, session: Session, reply: Reply) -> None:
        super().__init__(session)
        self._reply = reply
        self._stream: EventStream | None = None

    @property
    def may_stream(self) -> bool:
        return self._reply.may_stream

    async def emit(self, data: bytes) -> None:
        if self._reply.may_stream:
            stream = await self._opened()
            await self._reply.frame(stream.append(data))

    async def finish(self, bodies: list[bytes], batched: bool) -> None:
        """Send the responses, on the stream if there is one."""
        if self._stream is None:
            if batched:
                await self._reply.json(200, b"[" + b",".join(bodies) + b"]")
            else:
                await self._reply.json(self.status, bodies[0])
            return
        for body in bodies:
            await self._reply.frame(self._stream.append(body))
        self._stream.finish()
        await self._reply.end()

    async def let_go(self) -> None:
        """Close the connection; only a client that has an event's id can come back for the rest."""
        if self._reply.may_stream and versions.primes_streams(self.session.version):
            await self._opened()
            await self._reply.end()

    async def _opened(self) -> EventStream:
        if self._stream is None:
            self._stream = self.session.streams.open()
            if versions.primes_streams(self.session.version):
                await self._reply.frame(self._stream.append(b"", RETRY_MS))
        return self._stream


class HandshakeExchange(Exchange):
    """One request of a session."""

    def __init__(self, outlet: Outlet, meta: m.Json) -> None:
        session = outlet.session
        super().__init__(
            version=session.version,
            client=session.client,
            capabilities=session.capabilities,
            session=session.id,
            caller=session.caller,
            toolsets=session.toolsets,
            meta=meta,
            log_level=session.log_level,
        )
        self.peer = session
        self._outlet = outlet

    async def notify(self, method: str, params: m.Json) -> None:
        await self._outlet.emit(jsonrpc.notification(method, params))

    async def exchange(self, asks: dict[str, Ask], state: Any) -> dict[str, Any]:
        if not self._outlet.may_stream:
            raise ProtocolError("Asking back needs a client that accepts event streams.")
        asked = {key: self.peer.asking(ask) for key, ask in asks.items()}
        try:
            for data, _ in asked.values():
                await self._outlet.emit(data)
            return {key: await answer for key, (_, answer) in asked.items()}
        finally:
            for _, answer in asked.values():
                answer.cancel()

    async def close_stream(self) -> None:
        await self._outlet.let_go()


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
