"""HTTP of the proxy: exchanging a pairing code, and on a port of its own what operators need."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct

from tabhub.agents.http.messages import (
    read_body,
    refuse,
    require_json,
    require_method,
    send_body,
    send_json,
)
from tabhub.agents.metrics import Family, render
from tabhub.errors import AccessError, InvalidArguments, NotFound, TabhubError, Unavailable
from tabhub.proxy.addresses import source_of
from tabhub.proxy.identity import is_whole_token
from tabhub.rate_limit import Clock, RateLimits
from tabhub.wire.asgi import Header, Receive, Scope, Send

MOST_BODY = 4096
PAIRINGS_PER_MINUTE = 10
"""Of one address."""
_BEARER = b"bearer "
T = TypeVar("T", bound=Struct)
Handler = Callable[[Scope, Receive, Send], Awaitable[None]]


class ExchangeRequest(Struct):
    code: str


class DeviceToken(Struct):
    """What a code is exchanged for."""

    token: str
    user_id: str
    expires: float


class PairRequest(Struct):
    user_id: str
    client: str = ""


class RevokeRequest(Struct):
    jti: str = ""
    user_id: str = ""


class _Endpoints:
    """Serves paths, and answers errors as every endpoint of tabhub does."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._require_welcome(scope)
            handler = self._handlers.get(scope["path"])
            if handler is None:
                raise NotFound(f"There is no {scope['path'][:100]}.")
            await handler(scope, receive, send)
        except TabhubError as error:
            await refuse(scope, send, error)

    def _require_welcome(self, scope: Scope) -> None:
        """Raises for a request that is not to be answered, whatever it asks for."""


class PublicEndpoints(_Endpoints):
    """What is beside the WebSockets; `welcome` takes the hosts and the origins of a request."""

    def __init__(
        self,
        exchange: Callable[[str], Awaitable[DeviceToken]],
        clock: Clock,
        welcome: Callable[[list[str], list[str]], None] = lambda hosts, origins: None,
    ) -> None:
        super().__init__({"/pair": self._pair, "/mcp": self._reserved})
        self._welcome = welcome
        self._exchange = exchange
        self._tries = RateLimits[str](PAIRINGS_PER_MINUTE, 60.0, clock)

    def _require_welcome(self, scope: Scope) -> None:
        headers: list[Header] = scope["headers"]
        hosts, origins = (
            [value.decode("latin-1") for name, value in headers if name == wanted]
            for wanted in (b"host", b"origin")
        )
        self._welcome(hosts, origins)

    async def _pair(self, scope: Scope, receive: Receive, send: Send) -> None:
        require_method(scope, "POST")
        address = (scope.get("client") or ("",))[0]
        wait = self._tries.admit(source_of(address))
        if wait:
            data = {"retryAfterMs": round(wait * 1000)}
            raise Unavailable("Too many tries; wait a minute.", "rate_limited", data=data)
        request = await _body(scope, receive, ExchangeRequest)
        await send_json(send, 200, msgspec.json.encode(await self._exchange(request.code)))

    async def _reserved(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotFound("/mcp is a WebSocket here.")


class AdminEndpoints(_Endpoints):
    """Health and metrics for everyone who reaches the port; the rest needs the signing secret."""

    def __init__(
        self,
        problem: Callable[[], str],
        metrics: Callable[[], list[Family]],
        is_operator: Callable[[str], bool],
        pair: Callable[[PairRequest], Awaitable[str]],
        revoke: Callable[[RevokeRequest], Awaitable[None]],
    ) -> None:
        super().__init__(
            {
                "/healthz": self._healthz,
                "/readyz": self._readyz,
                "/metrics": self._metrics_page,
                "/pair": self._pair,
                "/revoke": self._revoke,
            }
        )
        self._problem = problem
        """Why this node takes no sockets now; empty if it does."""
        self._metrics = metrics
        self._is_operator = is_operator
        self._issue = pair
        self._end = revoke

    async def _healthz(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_json(send, 200, b'{"status":"ok"}')

    async def _readyz(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = self._problem()
        if problem:
            raise Unavailable(f"This node takes no sockets: {problem}", "server_unavailable")
        await send_json(send, 200, b'{"status":"ready"}')

    async def _metrics_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        page, kind = render(list(self._metrics()))
        await send_body(send, 200, page, kind)

    async def _pair(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._require_operator(scope)
        request = await _body(scope, receive, PairRequest)
        await send_json(send, 200, msgspec.json.encode({"code": await self._issue(request)}))

    async def _revoke(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._require_operator(scope)
        request = await _body(scope, receive, RevokeRequest)
        if bool(request.jti) == bool(request.user_id):
            raise InvalidArguments("Name either a jti or a user_id.")
        if is_whole_token(request.jti):
            raise InvalidArguments("jti is the id of a token; a token itself is not kept anywhere.")
        await self._end(request)
        await send_json(send, 200, b'{"revoked":true}')

    def _require_operator(self, scope: Scope) -> None:
        require_method(scope, "POST")
        given = dict(scope["headers"]).get(b"authorization", b"")
        if given[: len(_BEARER)].lower() != _BEARER:
            raise AccessError("The signing secret is needed as a bearer token.")
        if not self._is_operator(given[len(_BEARER) :].decode("latin-1")):
            raise AccessError("This is not the signing secret.")


async def _body(scope: Scope, receive: Receive, kind: type[T]) -> T:
    headers = dict(scope["headers"])
    require_json(headers)
    body = await read_body(headers, receive, MOST_BODY)
    try:
        return msgspec.json.decode(body, type=kind)
    except ValueError as error:
        raise InvalidArguments(f"The body: {error}.") from None
