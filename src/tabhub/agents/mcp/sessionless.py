"""The revision without sessions: each POST is independent, and closing it cancels it."""

import asyncio
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from tabhub.agents.http.messages import Reply, Toolsets, Watch
from tabhub.agents.mcp import methods
from tabhub.agents.mcp.backend import Backend, Exchange
from tabhub.agents.mcp.elicitation import ClientQuestion, NeedsInput, Sealer
from tabhub.agents.mcp.streams import message_frame
from tabhub.agents.mcp.subscriptions import Subscriptions
from tabhub.config.clients import Client
from tabhub.errors import Forbidden, ProtocolError, TabhubError
from tabhub.hub.sessions import COMMON
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Receive
from tabhub.wire.mcp import headers as h
from tabhub.wire.mcp import messages as m
from tabhub.wire.mcp.headers import ParamHeaders

LISTEN = "subscriptions/listen"

_CACHEABLE = (m.PaginatedResult, m.ReadResult, m.DiscoverResult)
_INVALID_PARAMS = -32602
_RENUMBERED = {-32002: _INVALID_PARAMS}
"""Codes of older revisions, such as that of a missing resource, by the code to use now."""

_any_params = methods.ParamsDecoder(m.RequestParams)
_listen_params = methods.ParamsDecoder(m.ListenParams)


class SessionlessExchange(Exchange):
    """A request without a session: it can notify, and asks by ending early."""

    def __init__(
        self,
        envelope: h.Envelope,
        caller: Client,
        toolsets: Toolsets,
        reply: Reply,
        params: m.RequestParams,
    ) -> None:
        super().__init__(
            version=envelope.version,
            client=envelope.client,
            capabilities=envelope.capabilities,
            session=f"{COMMON}{caller.name}",
            caller=caller,
            toolsets=toolsets,
            meta=params.meta,
            log_level=envelope.log_level,
        )
        self._reply = reply
        self._answers = getattr(params, "input_responses", None) or {}

    async def notify(self, method: str, params: m.Json) -> None:
        await self._reply.frame(message_frame(jsonrpc.notification(method, params)))

    def forget_answers(self) -> None:
        self._answers = {}

    async def ask_client(self, asks: dict[str, ClientQuestion], state: Any) -> dict[str, Any]:
        if any(key not in self._answers for key in asks):
            raise NeedsInput(asks, state)
        return {key: self._answers[key] for key in asks}


class Sessionless:
    """Answers the clients of the sessionless era."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._sealer = Sealer()
        self._subscriptions = Subscriptions(backend)
        self._param_headers = ParamHeaders()

    async def post(
        self,
        message: jsonrpc.Incoming,
        headers: h.Headers,
        caller: Client,
        toolsets: Toolsets,
        reply: Reply,
        receive: Receive,
    ) -> None:
        if message.is_response():
            raise ProtocolError("In this revision a client does not send responses.")
        if message.is_notification():
            h.require_version(h.value_of(headers, h.VERSION))
            await reply.accepted()
            return
        watch = Watch(receive)
        try:
            status, body = await self._answer(message, headers, caller, toolsets, reply)
            await _finish(reply, status, body)
        except asyncio.CancelledError:
            if not watch.client_left:
                raise
            watch.absorb()
        finally:
            watch.stop()

    def close(self) -> None:
        self._subscriptions.close()

    async def _answer(
        self,
        message: jsonrpc.Incoming,
        headers: h.Headers,
        caller: Client,
        toolsets: Toolsets,
        reply: Reply,
    ) -> tuple[int, bytes]:
        id: Any = message.id
        name: Any = message.method
        try:
            if name == LISTEN:
                result = await self._listen(id, message.params, headers, reply)
            else:
                params = message.params
                result = await self._call(name, params, headers, caller, toolsets, reply)
            return 200, jsonrpc.success(id, self._stamped(result))
        except Exception as fault:
            error = methods.error_for(fault, name)
            error.code = _RENUMBERED.get(error.code, error.code)
            return _status(error), jsonrpc.failure(id, error)

    async def _listen(
        self, id: jsonrpc.Id, raw: methods.RawParams, headers: h.Headers, reply: Reply
    ) -> m.Result:
        params = _listen_params(raw)
        h.open_envelope(LISTEN, params, headers)
        return await self._subscriptions.serve(id, params.notifications, reply)

    async def _call(
        self,
        name: str,
        raw: methods.RawParams,
        headers: h.Headers,
        caller: Client,
        toolsets: Toolsets,
        reply: Reply,
    ) -> m.Result:
        method = methods.find(methods.SESSIONLESS, self._backend, name)
        params = (_any_params if method is None else method.params)(raw)
        envelope = h.open_envelope(name, params, headers)
        if method is None:
            raise methods.not_found(name)
        if isinstance(params, m.CallParams):
            schema = self._backend.input_schema(params.name)
            self._param_headers.check(params.name, schema, params.arguments, headers)
        exchange = SessionlessExchange(envelope, caller, toolsets, reply, params)
        if isinstance(params, m.InputParams) and params.request_state is not None:
            identity = _identity(name, params, caller.name)
            exchange.state = self._sealer.open(params.request_state, identity)
        try:
            return await method.answer(self._backend)(exchange, params)
        except NeedsInput as need:
            return self._input_required(need, _identity(name, params, caller.name))

    def _input_required(self, need: NeedsInput, request: bytes) -> m.Result:
        return m.InputRequired(
            input_requests={key: ask.wire() for key, ask in need.asks.items()},
            request_state=UNSET if need.state is None else self._sealer.seal(need.state, request),
            result_type="input_required",
        )

    def _stamped(self, result: m.Result) -> m.Result:
        """Copy a result and add what this era requires in each of them."""
        server = {m.META_SERVER_INFO: self._backend.info}
        result = replace(
            result,
            meta=server if result.meta is UNSET else {**result.meta, **server},
            result_type="complete" if result.result_type is UNSET else result.result_type,
        )
        if isinstance(result, _CACHEABLE) and result.ttl_ms is UNSET:
            result.ttl_ms, result.cache_scope = 0, "private"
        return result


async def _finish(reply: Reply, status: int, body: bytes) -> None:
    if reply.streaming:
        await reply.frame(message_frame(body))
        await reply.end()
    else:
        await reply.json(status, body)


def _status(error: TabhubError) -> int:
    """Faults of the message have their own status; an error of a handler is a result: 200."""
    if isinstance(error, ProtocolError | Forbidden):
        return error.status
    return 400 if error.code == _INVALID_PARAMS else 200


def _identity(name: str, params: Any, caller: str) -> bytes:
    """The identity of a request over two rounds, independent of the order of its members."""
    arguments = getattr(params, "arguments", None)
    if isinstance(arguments, msgspec.Raw):
        arguments = msgspec.json.decode(arguments)
    target = getattr(params, "name", None) or getattr(params, "uri", None)
    return msgspec.json.encode([caller, name, target, arguments], order="deterministic")
