"""REST: `/tools`, `/tools/{name}` and `/tools/{name}/call`, for clients without MCP.

A call runs like every other; its session is the one that all calls of a token share, or that of
the tab group that the request names. Raw ASGI, like `/mcp`.
"""

import asyncio
import re
from typing import Any, Self

import msgspec
from msgspec import UNSET, Raw, UnsetType, structs

from tabhub.agents.http.messages import (
    CALLER,
    KEEPALIVE_SECONDS,
    PING,
    Reply,
    Watch,
    as_query,
    headers_of,
    query_of,
    read_body,
    require_json,
    send_json,
)
from tabhub.agents.http.routing import PARAMETERS
from tabhub.agents.tab_groups import TabGroups, operation_id
from tabhub.agents.tool_search import Limit, Listing, ToolQuery, ToolSearch, marked, whole_schema
from tabhub.calls.call import Call
from tabhub.calls.results import failed
from tabhub.calls.runner import Runner
from tabhub.calls.time_limit import Progress
from tabhub.config.clients import Client
from tabhub.errors import InvalidArguments, Refused, TabhubError
from tabhub.hub.sessions import COMMON
from tabhub.hub.texts import LONGEST_AGENT
from tabhub.hub.tools import Tool
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import App, Header, Receive, Scope, Send
from tabhub.wire.mcp import headers as h
from tabhub.wire.mcp import messages as m

Headers = dict[bytes, bytes]
KEY_NAME = "Idempotency-Key"
KEY, GROUP, AGENT = b"idempotency-key", b"x-tabhub-group", b"user-agent"
STREAM = b"text/event-stream"
TOOL_FAILED = 422
OWN_STATUS = frozenset({400, 403, 413, 429, 500, 503})
"""The other statuses that a failed call may have; any more would look like errors of the path."""
RETRIED_BY_CLIENTS = frozenset({429, 503})
"""Statuses after which HTTP clients send a request again without being asked."""


class CallBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a call."""

    arguments: Raw = jsonrpc.EMPTY


class LimitParam(msgspec.Struct):
    """The one parameter of `/tools` that is not text."""

    limit: Limit


class ToolEntry(m.Wire, kw_only=True):
    """A tool in the responses of REST."""

    name: str
    title: str | None = None
    description: str
    input_schema: Any
    annotations: m.Json | UnsetType = UNSET
    plugin: str
    toolsets: list[str]
    disabled: bool = False


class ToolPage(m.Wire):
    tools: list[ToolEntry]
    next_cursor: str | UnsetType = UNSET


class Failure(m.CallResult, kw_only=True):
    """The result of a failed call, with the error in the shape of every endpoint."""

    error: m.Json


_call_body = msgspec.json.Decoder(CallBody).decode
_encode = msgspec.json.Encoder().encode


class JsonResponse:
    """Responds with JSON when the call ends."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *fault: object) -> None:
        return None

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        return None

    async def end(self, status: int, body: bytes, headers: list[Header]) -> None:
        await send_json(self._send, status, body, headers)


class EventResponse:
    """Streams `progress` events, then `result` or `error`; an error before them is JSON."""

    def __init__(self, send: Send) -> None:
        self._reply = Reply(send, may_stream=True)

    async def __aenter__(self) -> Self:
        self._pings = asyncio.create_task(self._keep_alive())
        return self

    async def __aexit__(self, *fault: object) -> None:
        self._pings.cancel()

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        members = {"progress": progress, "total": total, "message": message}
        data = {key: value for key, value in members.items() if value is not None}
        await self._reply.frame(_event(b"progress", _encode(data)))

    async def end(self, status: int, body: bytes, headers: list[Header]) -> None:
        if status != 200 and not self._reply.streaming:
            self._reply.headers = tuple(headers)
            await self._reply.json(status, body)
            return
        await self._reply.frame(_event(b"result" if status == 200 else b"error", body))
        await self._reply.end()

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(KEEPALIVE_SECONDS)
            await self._reply.frame(PING)


class RestEndpoint:
    """The handlers of `/tools` and of the paths below it."""

    def __init__(
        self,
        runner: Runner,
        listing: Listing,
        search: ToolSearch,
        groups: TabGroups,
        max_body: int,
    ) -> None:
        self._runner = runner
        self._listing = listing
        self._search = search
        self._groups = groups
        self._max_body = max_body

    @property
    def handlers(self) -> dict[str, App]:
        return {"list_tools": self._list, "get_tool": self._get, "call_tool": self._call}

    async def _list(self, scope: Scope, receive: Receive, send: Send) -> None:
        query, client = _tool_query(scope), scope[CALLER]
        page = self._search.page(query, client, None, query.limit)
        entries = [self._entry(tool, client) for tool in page.tools]
        await send_json(send, 200, _encode(ToolPage(entries, page.next_cursor or UNSET)))

    async def _get(self, scope: Scope, receive: Receive, send: Send) -> None:
        client: Client = scope[CALLER]
        tool = self._search.find(scope[PARAMETERS]["name"], client)
        await send_json(send, 200, _encode(self._entry(tool, client)))

    def _entry(self, tool: Tool, client: Client) -> ToolEntry:
        disabled = self._listing.is_disabled(tool, client)
        return ToolEntry(
            name=tool.name,
            title=tool.title,
            description=marked(tool.description, disabled),
            input_schema=whole_schema(tool),
            annotations=dict(tool.annotations) or UNSET,
            plugin=tool.namespace,
            toolsets=sorted(tool.toolsets),
            disabled=disabled,
        )

    async def _call(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = dict(scope["headers"])
        arguments = _arguments(headers, await read_body(headers, receive, self._max_body))
        is_stream = STREAM in headers.get(b"accept", b"")
        response = EventResponse(send) if is_stream else JsonResponse(send)
        call = self._make_call(scope, arguments, headers, response.progress)
        watch = Watch(receive)
        try:
            async with response:
                await response.end(*await self._outcome(call))
        except asyncio.CancelledError:
            if not watch.client_left:
                raise
            watch.absorb()
        finally:
            watch.stop()

    def _make_call(
        self, scope: Scope, arguments: Raw, headers: Headers, progress: Progress
    ) -> Call:
        client: Client = scope[CALLER]
        return Call(
            name=scope[PARAMETERS]["name"],
            raw=arguments,
            session=self._groups.session(
                h.value_of(headers, GROUP), client, f"{COMMON}{client.name}"
            ),
            client=client,
            agent=(h.value_of(headers, AGENT) or "").partition("/")[0][:LONGEST_AGENT],
            progress=progress,
            operation_id=operation_id(h.value_of(headers, KEY), KEY_NAME),
            operation_named=KEY_NAME,
        )

    async def _outcome(self, call: Call) -> tuple[int, bytes, list[Header]]:
        """Run the call; returns status, body and headers of the response."""
        try:
            result = await self._runner.run(call)
        except TabhubError as error:
            status, body = self._failure(error, call)
            return status, body, headers_of(error) if status == error.status else []
        if result.is_error:
            failure = Failure(**structs.asdict(result), error=_error_of(result))
            return TOOL_FAILED, _encode(failure), []
        return 200, _encode(result), []

    def _failure(self, error: TabhubError, call: Call) -> tuple[int, bytes]:
        if error.reason != "unknown_tool" or self._search.has(call.name):
            # A tool that does not find something has failed; the path exists.
            return _status(error), _with_result(error)
        return error.status, _encode(self._search.unknown(call.name, call.client).to_http())


def _status(error: TabhubError) -> int:
    """The status of an error; a call that may have had an effect must not be retried."""
    invites_retry = error.status in RETRIED_BY_CLIENTS and error.effect != "none"
    return error.status if error.status in OWN_STATUS and not invites_retry else TOOL_FAILED


def _tool_query(scope: Scope) -> ToolQuery:
    params: dict[str, Any] = {**query_of(scope)}
    if "limit" in params:
        params["limit"] = _limit(params["limit"])
    return as_query(params, ToolQuery, strict=True)


def _limit(text: str) -> int:
    return as_query({"limit": text}, LimitParam, strict=False).limit


def _arguments(headers: Headers, body: bytes) -> Raw:
    if not body:
        return jsonrpc.EMPTY
    require_json(headers)
    try:
        jsonrpc.require_text(body)
        arguments = _call_body(body).arguments
    except jsonrpc.UNREADABLE as error:
        unknown = re.search(r"unknown field `(.+?)`", str(error))
        fault = f"{error}." if unknown is None else _advice(unknown[1])
        misfit = InvalidArguments(f"The body of a call: {fault}")
        raise jsonrpc.explained(error, misfit) from None
    return jsonrpc.EMPTY if arguments == b"null" else arguments


def _advice(name: str) -> str:
    """Advice for a client that puts an argument at the top of the body."""
    example = msgspec.json.encode({"arguments": {name: ...}}, enc_hook=lambda _: "...").decode()
    return f'put the arguments under "arguments", as in {example}'


def _with_result(error: TabhubError) -> bytes:
    return _encode(Failure(**structs.asdict(failed(error)), **error.to_http()))


def _error_of(result: m.CallResult) -> m.Json:
    """The error of a result that the tool itself marked as failed."""
    text = next((block["text"] for block in result.content if block["type"] == "text"), "")
    error: m.Json = Refused(text or "The tool failed.", "script_error").to_http()["error"]
    return error


def _event(kind: bytes, data: bytes) -> bytes:
    return b"event: " + kind + b"\ndata: " + data + b"\n\n"
