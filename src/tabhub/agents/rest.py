"""REST: `/tools`, `/tools/{name}` and `/tools/{name}/call`, for whoever speaks no MCP.

A call goes the same way as every other; the session is the one that all calls of a token share,
or the group that the request names. Raw ASGI, like `/mcp`.
"""

import asyncio
import re
from typing import Any, Self

import msgspec
from msgspec import UNSET, Raw, UnsetType, structs

from tabhub.agents.http.messages import (
    CALLER,
    as_query,
    query_of,
    read_body,
    require_json,
    send_json,
)
from tabhub.agents.mcp.reply import KEEPALIVE_SECONDS, PING, Reply, Watch
from tabhub.agents.routes import PARAMETERS
from tabhub.agents.tab_groups import LONGEST_AGENT, TabGroups, operation_id
from tabhub.agents.tool_search import Limit, Listing, ToolQuery, ToolSearch, marked, whole_schema
from tabhub.calls.call import Call
from tabhub.calls.results import failed
from tabhub.calls.runner import Runner
from tabhub.calls.time_limit import Progress
from tabhub.config.clients import Client
from tabhub.errors import InvalidArguments, Refused, TabhubError
from tabhub.hub.sessions import COMMON
from tabhub.hub.tools import Tool
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import App, Receive, Scope, Send
from tabhub.wire.mcp import headers as h
from tabhub.wire.mcp import messages as m

Headers = dict[bytes, bytes]
KEY_NAME = "Idempotency-Key"
KEY, GROUP, AGENT = b"idempotency-key", b"x-tabhub-group", b"user-agent"
STREAM = b"text/event-stream"
TOOL_FAILED = 422
OWN_STATUS = frozenset({400, 403, 413, 429, 500, 503})
"""The statuses that a failed call may have beside that; any other would look like the path's."""
SENT_AGAIN = frozenset({429, 503})
"""Those after which HTTP clients send a request again by themselves."""


class CallBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a call."""

    arguments: Raw = jsonrpc.EMPTY


class Paged(msgspec.Struct):
    """What of a query is no text."""

    limit: Limit


class ToolEntry(m.Wire, kw_only=True):
    """A tool as REST shows it."""

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
    """The result of a call that failed, with the error as every endpoint tells it."""

    error: m.Json


_call_body = msgspec.json.Decoder(CallBody).decode
_encode = msgspec.json.Encoder().encode


class JsonAnswer:
    """Answers with JSON when the call ends."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *fault: object) -> None:
        return None

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        return None

    async def end(self, status: int, body: bytes) -> None:
        await send_json(self._send, status, body)


class EventAnswer:
    """`progress` events, and at last `result` or `error`; an error before them is plain JSON."""

    def __init__(self, send: Send) -> None:
        self._reply = Reply(send, may_stream=True)

    async def __aenter__(self) -> Self:
        self._beat = asyncio.create_task(self._keep_alive())
        return self

    async def __aexit__(self, *fault: object) -> None:
        self._beat.cancel()

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        said = {"progress": progress, "total": total, "message": message}
        told: dict[str, Any] = {key: value for key, value in said.items() if value is not None}
        await self._reply.frame(_event(b"progress", msgspec.json.encode(told)))

    async def end(self, status: int, body: bytes) -> None:
        if status != 200 and not self._reply.streaming:
            await self._reply.json(status, body)
            return
        await self._reply.frame(_event(b"result" if status == 200 else b"error", body))
        await self._reply.end()

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(KEEPALIVE_SECONDS)
            await self._reply.frame(PING)


class Rest:
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
        return {"list_tools": self._list, "get_tool": self._one, "call_tool": self._call}

    async def _list(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted, client = _wanted(scope), scope[CALLER]
        page = self._search.page(wanted, client, None, wanted.limit)
        entries = [self._entry(tool, client) for tool in page.tools]
        await send_json(send, 200, _encode(ToolPage(entries, page.next_cursor or UNSET)))

    async def _one(self, scope: Scope, receive: Receive, send: Send) -> None:
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
        answer = EventAnswer(send) if is_stream else JsonAnswer(send)
        call = self._made(scope, arguments, headers, answer.progress)
        watch = Watch(receive)
        try:
            async with answer:
                await answer.end(*await self._outcome(call))
        except asyncio.CancelledError:
            if not watch.client_left:
                raise
            watch.absorb()
        finally:
            watch.stop()

    def _made(self, scope: Scope, arguments: Raw, headers: Headers, progress: Progress) -> Call:
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

    async def _outcome(self, call: Call) -> tuple[int, bytes]:
        """The status and the body of what became of a call."""
        try:
            result = await self._runner.run(call)
        except TabhubError as error:
            return self._failure(error, call)
        if result.is_error:
            return TOOL_FAILED, _encode(Failure(**structs.asdict(result), error=_error_of(result)))
        return 200, _encode(result)

    def _failure(self, error: TabhubError, call: Call) -> tuple[int, bytes]:
        if error.reason != "unknown_tool" or self._search.has(call.name):
            # What a tool does not find, or waits for in vain, is no failing of REST.
            return _status(error), _with_result(error)
        return error.status, _encode(self._search.unknown(call.name, call.client).to_http())


def _status(error: TabhubError) -> int:
    invites = error.status in SENT_AGAIN and error.effect != "none"
    return error.status if error.status in OWN_STATUS and not invites else TOOL_FAILED


def _wanted(scope: Scope) -> ToolQuery:
    given: dict[str, Any] = {**query_of(scope)}
    if "limit" in given:
        given["limit"] = _limit(given["limit"])
    return as_query(given, ToolQuery, strict=True)


def _limit(written: str) -> int:
    return as_query({"limit": written}, Paged, strict=False).limit


def _arguments(headers: Headers, body: bytes) -> Raw:
    if not body:
        return jsonrpc.EMPTY
    require_json(headers)
    try:
        jsonrpc.require_text(body)
        arguments = _call_body(body).arguments
    except jsonrpc.UNREADABLE as error:
        stray = re.search(r"unknown field `(.+?)`", str(error))
        told = f"{error}." if stray is None else _belongs_below(stray[1])
        misfit = InvalidArguments(f"The body of a call: {told}")
        raise jsonrpc.explained(error, misfit) from None
    return jsonrpc.EMPTY if arguments == b"null" else arguments


def _belongs_below(name: str) -> str:
    example = msgspec.json.encode({"arguments": {name: ...}}, enc_hook=lambda _: "...").decode()
    return f'put the arguments under "arguments", as in {example}'


def _with_result(error: TabhubError) -> bytes:
    return _encode(Failure(**structs.asdict(failed(error)), **error.to_http()))


def _error_of(result: m.CallResult) -> m.Json:
    """The error of a result that its tool made itself."""
    said = next((block["text"] for block in result.content if block["type"] == "text"), "")
    error: m.Json = Refused(said or "The tool failed.", "script_error").to_http()["error"]
    return error


def _event(kind: bytes, data: bytes) -> bytes:
    return b"event: " + kind + b"\ndata: " + data + b"\n\n"
