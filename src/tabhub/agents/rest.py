"""REST: `/tools`, `/tools/{name}` and `/tools/{name}/call`, for whoever speaks no MCP.

A call goes the same way as every other; the session is the one that all calls of a token share,
or the group that the request names. Raw ASGI, like `/mcp`.
"""

import asyncio
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec import UNSET, Raw, UnsetType, structs

from tabhub.agents.answers import send_json
from tabhub.agents.belonging import LONGEST_AGENT, Groups, operation_id
from tabhub.agents.body import read_body, require_json
from tabhub.agents.choosing import Choosing, Limit, Wanted
from tabhub.agents.mcp.listing import Listing, marked, whole_schema
from tabhub.agents.mcp.watch import Watch
from tabhub.agents.requests import as_query, query_of, require_method
from tabhub.agents.rest_answers import EventAnswer, JsonAnswer
from tabhub.agents.security import CALLER, refuse
from tabhub.calls.call import Call
from tabhub.calls.ports import Progress
from tabhub.calls.results import failed
from tabhub.calls.runner import Runner
from tabhub.config.clients import Client
from tabhub.errors import InvalidArguments, NotFound, Refused, TabhubError
from tabhub.hub.sessions import COMMON
from tabhub.hub.tools import Tool
from tabhub.wire import jsonrpc
from tabhub.wire.asgi import Header, Receive, Scope, Send
from tabhub.wire.mcp import headers as h
from tabhub.wire.mcp import messages as m

Headers = dict[bytes, bytes]
KEY_NAME = "Idempotency-Key"
KEY, GROUP, AGENT = b"idempotency-key", b"x-tabhub-group", b"user-agent"
STREAM = b"text/event-stream"
READS, CALLS = ("GET", "HEAD", "OPTIONS"), ("POST", "OPTIONS")
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


class Rest:
    """Answers everything below `/tools`."""

    def __init__(
        self,
        runner: Runner,
        listing: Listing,
        choosing: Choosing,
        groups: Groups,
        max_body: int,
    ) -> None:
        self._runner = runner
        self._listing = listing
        self._choosing = choosing
        self._groups = groups
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._answer(scope, receive, send)
        except TabhubError as error:
            await refuse(scope, send, error)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        name, is_call = _place(scope)
        methods = CALLS if is_call else READS
        require_method(scope, *methods)
        if scope["method"] == "OPTIONS":
            await send({"type": "http.response.start", "status": 204, "headers": _allow(methods)})
            await send({"type": "http.response.body"})
        elif is_call:
            await self._call(name or "", scope, receive, send)
        else:
            told = self._list(scope) if name is None else self._one(name, scope[CALLER])
            await send_json(send, 200, _encode(told))

    def _one(self, name: str, client: Client) -> ToolEntry:
        return self._entry(self._choosing.find(name, client), client)

    def _list(self, scope: Scope) -> ToolPage:
        wanted, client = _wanted(scope), scope[CALLER]
        page = self._choosing.page(wanted, client, None, wanted.limit)
        entries = [self._entry(tool, client) for tool in page.tools]
        return ToolPage(entries, page.next_cursor or UNSET)

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

    async def _call(self, tool: str, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = dict(scope["headers"])
        arguments = _arguments(headers, await read_body(headers, receive, self._max_body))
        is_stream = STREAM in headers.get(b"accept", b"")
        answer = EventAnswer(send) if is_stream else JsonAnswer(send)
        call = self._made(tool, arguments, headers, scope[CALLER], answer.progress)
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

    def _made(
        self, tool: str, arguments: Raw, headers: Headers, client: Client, progress: Progress
    ) -> Call:
        return Call(
            name=tool,
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
        if error.reason != "unknown_tool" or self._choosing.has(call.name):
            # What a tool does not find, or waits for in vain, is no failing of the door.
            return _status(error), _with_result(error)
        return error.status, _encode(self._choosing.unknown(call.name, call.client).to_http())


def _status(error: TabhubError) -> int:
    invites = error.status in SENT_AGAIN and error.effect != "none"
    return error.status if error.status in OWN_STATUS and not invites else TOOL_FAILED


def _place(scope: Scope) -> tuple[str | None, bool]:
    """Which tool a path names, if any, and whether it is to be called.

    The raw path is taken apart, so that a name may have any character.
    """
    steps = [unquote(step) for step in scope["raw_path"].decode("latin-1").split("/")]
    if len(steps) > 2 and not steps[-1]:
        steps.pop()
    match steps:
        case ["", "tools"]:
            return None, False
        case ["", "tools", name]:
            return name, False
        case ["", "tools", name, "call"]:
            return name, True
    raise NotFound(f"There is nothing at {scope['path']}.")


def _wanted(scope: Scope) -> Wanted:
    given: dict[str, Any] = {**query_of(scope)}
    if "limit" in given:
        given["limit"] = _limit(given["limit"])
    return as_query(given, Wanted, strict=True)


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


def _allow(methods: Iterable[str]) -> list[Header]:
    return [(b"allow", ", ".join(methods).encode())]
