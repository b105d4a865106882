"""Requests of the handshake era, which belong to a session, whatever transport carries them.

A `Channel` takes the messages that a request sends while it is answered. Over Streamable HTTP it
is the response to a POST: JSON, or an event stream from the first message on. That stream belongs
to the session, not to the connection: later messages are kept, and the client may resume it.
"""

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Any, cast

import msgspec

from tabhub.agents.http.messages import Reply
from tabhub.agents.mcp import methods
from tabhub.agents.mcp.backend import Backend, Exchange
from tabhub.agents.mcp.elicitation import ClientQuestion
from tabhub.agents.mcp.session import McpSession, RunningRequest
from tabhub.agents.mcp.streams import EventStream
from tabhub.agents.mcp.subscriptions import require_few
from tabhub.errors import Cancelled, Forbidden, ProtocolError
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m
from tabhub.wire.mcp import versions

RETRY_MS = 500
"""How soon a client should reconnect after the server closed its stream."""
MAX_INITIALIZE_BYTES = 64 * 1024
"""Of the parameters of `initialize`, which are kept as long as the session."""


class Channel(ABC):
    """Takes the messages of one request, or of all requests of a batch."""

    def __init__(self, session: McpSession) -> None:
        self.session = session
        self.status = 200
        """The HTTP status of a response that is not a stream."""
        self.cancelled = False
        """Whether the client cancelled a request."""

    @property
    @abstractmethod
    def may_stream(self) -> bool:
        """Whether messages can be sent before the response."""

    @abstractmethod
    async def send(self, data: bytes) -> None:
        """Send a notification or a request of the server."""

    async def disconnect(self) -> None:
        """Close the connection, where the client can resume the stream."""
        return


class PostChannel(Channel):
    """The response to one POST."""

    def __init__(self, session: McpSession, reply: Reply) -> None:
        super().__init__(session)
        self._reply = reply
        self._stream: EventStream | None = None

    @property
    def may_stream(self) -> bool:
        return self._reply.may_stream

    async def send(self, data: bytes) -> None:
        if self._reply.may_stream:
            stream = await self._open_stream()
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

    async def disconnect(self) -> None:
        """Close the connection, if the client has an event id by which it can resume."""
        if self._reply.may_stream and versions.primes_streams(self.session.version):
            await self._open_stream()
            await self._reply.end()

    async def _open_stream(self) -> EventStream:
        if self._stream is None:
            self._stream = self.session.streams.open()
            if versions.primes_streams(self.session.version):
                await self._reply.frame(self._stream.append(b"", RETRY_MS))
        return self._stream


class HandshakeExchange(Exchange):
    """One request of a session."""

    def __init__(self, channel: Channel, meta: m.Json) -> None:
        session = channel.session
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
        self._channel = channel

    async def notify(self, method: str, params: m.Json) -> None:
        await self._channel.send(jsonrpc.notification(method, params))

    async def ask_client(self, asks: dict[str, ClientQuestion], state: Any) -> dict[str, Any]:
        if not self._channel.may_stream:
            raise ProtocolError("Asking back needs a client that accepts event streams.")
        asked = {key: self.peer.ask(ask) for key, ask in asks.items()}
        try:
            for data, _ in asked.values():
                await self._channel.send(data)
            return {key: await answer for key, (_, answer) in asked.items()}
        finally:
            for _, answer in asked.values():
                answer.cancel()

    async def close_stream(self) -> None:
        await self._channel.disconnect()


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


METHODS = methods.HANDSHAKE | {
    "logging/setLevel": methods.McpMethod(m.SetLevelParams, "logging", lambda b: _set_level),
    "resources/subscribe": methods.McpMethod(m.UriParams, "resources", lambda b: _subscribe),
    "resources/unsubscribe": methods.McpMethod(m.UriParams, "resources", lambda b: _unsubscribe),
}
_initialize_params = methods.ParamsDecoder(m.InitializeParams)
_cancelled_params = methods.ParamsDecoder(m.CancelledParams)


class Responder:
    """Answers the requests of sessions from a backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def initialized(self, session: McpSession, id: jsonrpc.Id) -> bytes:
        """The response to `initialize`."""
        result = m.InitializeResult(
            protocol_version=session.version,
            capabilities=self._backend.capabilities(),
            server_info=self._backend.info,
            instructions=self._backend.instructions,
        )
        return jsonrpc.success(id, result)

    async def respond(self, message: jsonrpc.Incoming, channel: Channel) -> bytes:
        """The response to a request."""
        id: Any = message.id
        name: Any = message.method
        requests = channel.session.running
        if id in requests:
            return jsonrpc.failure(id, ProtocolError(f"Request {id!r} is already running."))
        requests[id] = running = RunningRequest()
        try:
            return jsonrpc.success(id, await self._result(name, message.params, channel))
        except asyncio.CancelledError:
            if running.ended is None:
                raise
            running.absorb()
            channel.cancelled = isinstance(running.ended, Cancelled)
            return jsonrpc.failure(id, running.ended)
        except Exception as fault:
            error = methods.error_for(fault, name)
            if isinstance(error, Forbidden):
                channel.status = error.status
            return jsonrpc.failure(id, error)
        finally:
            del requests[id]

    async def _result(self, name: str, raw: methods.RawParams, channel: Channel) -> m.Result:
        method = methods.find(METHODS, self._backend, name)
        if method is None:
            raise methods.not_found(name)
        params = method.params(raw)
        exchange = HandshakeExchange(channel, params.meta)
        result = await method.answer(self._backend)(exchange, params)
        if isinstance(result, m.CallResult) and isinstance(result.structured_content, list):
            # These revisions allow an object only; the text says the same.
            result = msgspec.structs.replace(result, structured_content=msgspec.UNSET)
        return result


def initialize_params(message: jsonrpc.Incoming) -> m.InitializeParams:
    """The parameters of `initialize`; raises if they are too long."""
    if isinstance(message.params, msgspec.Raw) and len(message.params) > MAX_INITIALIZE_BYTES:
        raise ProtocolError("The parameters of initialize are too long.", "too_large")
    params: m.InitializeParams = _initialize_params(message.params)
    return params


def accept(session: McpSession, message: jsonrpc.Incoming) -> bool:
    """Handle a notification or a response; returns False for a request."""
    if message.is_response():
        session.take_response(message)
    elif not message.is_notification():
        return False
    elif message.method == "notifications/cancelled":
        with suppress(ProtocolError):
            session.cancel(_cancelled_params(message.params).request_id)
    return True
