"""Reading HTTP requests and writing HTTP responses, in terms of ASGI."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from functools import cached_property
from math import ceil
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl

import msgspec

from tabhub.config.settings import choose_toolsets, complaint
from tabhub.errors import Cancelled, InvalidArguments, ProtocolError, TabhubError
from tabhub.wire.asgi import Header, Receive, Scope, Send
from tabhub.wire.jsonrpc import MOST_VALUES, has_too_many_values

CALLER = "tabhub.caller"
"""Key of a scope: the client that sent the request, None if it showed no token."""
JSON: Header = (b"content-type", b"application/json")

SSE_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
PING = b": ping\n\n"
KEEPALIVE_SECONDS = 15.0
SHORTEST_WAIT_SECONDS = 60
"""What `Retry-After` says at least: the window of the rate limits."""
WATCH_AFTER_SECONDS = 0.02
"""A call that ends sooner never pays for watching its connection."""

Headers = Mapping[bytes, bytes]
T = TypeVar("T")
Query = TypeVar("Query", bound=msgspec.Struct)
Toolsets = frozenset[str] | None
"""The toolsets that a client's URL names; None for the usual ones."""
Refused = Callable[[Scope, TabhubError], None]
"""Called when a client tries something that it may not do."""


def query_of(scope: Scope) -> dict[str, str]:
    """The parameters of the URL; the last value of one that is repeated."""
    query = scope["query_string"].decode("latin-1")
    return dict(parse_qsl(query, keep_blank_values=True))


def as_query(params: Mapping[str, Any], kind: type[Query], *, strict: bool) -> Query:
    """The parameters of a URL as a struct; the error names the one that is wrong."""
    try:
        return msgspec.convert(params, kind, strict=strict)
    except msgspec.ValidationError as error:
        fault = _unknown_parameter(params, kind) or complaint(error, kind)
        raise InvalidArguments(f"The query: {fault}.") from None


def _unknown_parameter(params: Mapping[str, Any], kind: type[msgspec.Struct]) -> str | None:
    known = [field.encode_name for field in msgspec.structs.fields(kind)]
    for name in params:
        if name not in known:
            return f"there is no parameter {name}; there are {', '.join(known)}"
    return None


def named_toolsets(scope: Scope) -> Toolsets:
    """The names in all `?toolsets=a,b` of the URL; raises if one of them does not exist."""
    query = scope.get("query_string")
    if not query:
        return None
    values = [value for name, value in parse_qsl(query.decode("latin-1")) if name == "toolsets"]
    if not values:
        return None
    names = frozenset(",".join(values).split(","))
    choose_toolsets(names)
    return names


def require_method(scope: Scope, *methods: str) -> None:
    if scope["method"] not in methods:
        allow = ", ".join(methods)
        raise ProtocolError(f"{scope['path']} takes {allow}.", "method_not_allowed", allow=allow)


def accepts_streams(headers: Headers) -> bool:
    accepted = headers.get(b"accept", b"*/*")
    return b"text/event-stream" in accepted or b"*/*" in accepted or b"text/*" in accepted


def require_json(headers: Headers) -> None:
    kind = headers.get(b"content-type", b"")
    if kind != JSON[1] and kind.partition(b";")[0].strip().lower() != JSON[1]:
        raise ProtocolError("The body must be application/json.", "unsupported_media_type")


async def read_body(headers: Headers, receive: Receive, limit: int) -> bytes:
    """The whole body; raises as soon as it is known to be larger than the limit."""
    announced = headers.get(b"content-length", b"0")
    if announced.isdigit() and int(announced) > limit:
        raise _too_large(limit)
    chunks: list[bytes] = []
    size, has_more = 0, True
    while has_more:
        event = await receive()
        if event["type"] == "http.disconnect":
            raise Cancelled("The client disconnected while sending.")
        chunks.append(event.get("body", b""))
        size += len(chunks[-1])
        if size > limit:
            raise _too_large(limit)
        has_more = event.get("more_body", False)
    body = b"".join(chunks)
    if has_too_many_values(body):
        raise ProtocolError(f"The body has more than {MOST_VALUES} values.", "too_large")
    return body


def _too_large(limit: int) -> ProtocolError:
    return ProtocolError(f"The body is larger than {limit} bytes.", "too_large")


async def send_body(send: Send, status: int, body: bytes, kind: bytes) -> None:
    """Respond with a body of any content type."""
    headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def send_json(
    send: Send, status: int, body: bytes, headers: Iterable[Header] = (), prefix: str = ""
) -> None:
    """Respond with JSON; `prefix` is "websocket." where a WebSocket is refused."""
    start = {
        "type": f"{prefix}http.response.start",
        "status": status,
        "headers": [JSON, (b"content-length", b"%d" % len(body)), *headers],
    }
    await send(start)
    await send({"type": f"{prefix}http.response.body", "body": body})


def headers_of(error: TabhubError) -> list[Header]:
    """The headers that go with an error."""
    headers: list[Header] = []
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if error.allow is not None:
        headers.append((b"allow", error.allow.encode()))
    if error.status == 429:
        seconds = max(SHORTEST_WAIT_SECONDS, ceil(error.extra.get("retryAfterMs", 0) / 1000))
        headers.append((b"retry-after", b"%d" % seconds))
    return headers


async def refuse(scope: Scope, send: Send, error: TabhubError) -> None:
    """Respond with an error, over HTTP or to a WebSocket that was not accepted."""
    body = msgspec.json.encode(error.to_http())
    if scope["type"] != "websocket":
        await send_json(send, error.status, body, headers_of(error))
    elif "websocket.http.response" in scope.get("extensions", {}):
        await send_json(send, error.status, body, headers_of(error), prefix="websocket.")
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": error.reason})


class Reply:
    """One response: JSON, or an event stream from its first event on."""

    def __init__(self, send: Send, *, may_stream: bool) -> None:
        self._send = send
        self.headers: tuple[Header, ...] = ()
        self.may_stream = may_stream
        self.streaming = False
        self.over = False

    @cached_property
    def _turn(self) -> asyncio.Lock:
        """Several tasks of one handler may write events at once, and sending may have to wait."""
        return asyncio.Lock()

    async def frame(self, frame: bytes) -> None:
        """Send an event; the first one turns the response into a stream."""
        async with self._turn:
            if self.may_stream and not self.over:
                await self._begin_stream()
                await self._send({"type": "http.response.body", "body": frame, "more_body": True})

    async def stream(self) -> None:
        """Turn the response into an event stream, if it is not one yet."""
        async with self._turn:
            await self._begin_stream()

    def json(self, status: int, body: bytes) -> Awaitable[None]:
        self.over = True
        return send_json(self._send, status, body, self.headers)

    async def accepted(self) -> None:
        """Respond with 202: a notification or a response of the client was accepted."""
        self.over = True
        await self._start(202, [(b"content-length", b"0"), *self.headers])
        await self._send({"type": "http.response.body", "body": b""})

    async def end(self) -> None:
        """Close the stream; a response that is over stays as it is."""
        async with self._turn:
            if not self.over:
                self.over = True
                await self._send({"type": "http.response.body", "body": b""})

    async def keep_alive(self, wait: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Wait for something to send; a comment from time to time keeps the connection open."""
        while True:
            try:
                return await asyncio.wait_for(wait(), KEEPALIVE_SECONDS)
            except TimeoutError:
                await self.frame(PING)

    async def _begin_stream(self) -> None:
        if not self.streaming:
            self.streaming = True
            await self._start(200, [*SSE_HEADERS, *self.headers])

    async def _start(self, status: int, headers: list[Header]) -> None:
        await self._send({"type": "http.response.start", "status": status, "headers": headers})


class Watch:
    """Cancels the task that made it when the client disconnects."""

    def __init__(self, receive: Receive) -> None:
        self._task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._receive = receive
        self._watcher: asyncio.Task[None] | None = None
        self.client_left = False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(WATCH_AFTER_SECONDS, self._begin)

    def stop(self) -> None:
        self._timer.cancel()
        if self._watcher is not None:
            self._watcher.cancel()

    def absorb(self) -> None:
        """Undo the cancellation, so that the task ends normally."""
        self._task.uncancel()

    def _begin(self) -> None:
        self._watcher = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.client_left = True
        self._task.cancel()
