"""`/mcp/gateway`: all of tabhub behind two tools, one that finds tools and one that calls them.

An agent pays for two short descriptions, however many tools there are, and reads a tool's schema
when it needs that tool. Everything else is as on `/mcp`.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from tabhub.agents.mcp.backend import Exchange
from tabhub.agents.mcp.product import INSTRUCTIONS, ProductBackend, only_page
from tabhub.agents.tool_search import ToolQuery, marked
from tabhub.calls.results import UNTRUSTED, failed
from tabhub.config.clients import Client
from tabhub.errors import InvalidArguments, NotFound
from tabhub.hub.tools import Tool
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m

LIST, CALL = "tabhub_list_tools", "tabhub_call"
OWN = {LIST: LIST, CALL: CALL, "opentabs_list_tools": LIST, "opentabs_call": CALL}
"""The two tools, by every name that is accepted."""
DEFAULT_LIMIT, DEFAULT_SEARCH_LIMIT = 50, 15
MOST_NAMES = 50

_TEXT = {"type": "string"}
TOOLS = [
    m.ToolInfo(
        name=LIST,
        description="Find tools by words (query) or filter: names and summaries. With names: the "
        "full schemas of these tools.",
        input_schema={
            "type": "object",
            "properties": {
                "query": _TEXT,
                "plugin": _TEXT,
                "domain": _TEXT,
                "toolset": _TEXT,
                "names": {"type": "array", "items": _TEXT},
                "cursor": _TEXT,
                "limit": {"type": "integer"},
            },
        },
        annotations={"readOnlyHint": True},
    ),
    m.ToolInfo(
        name=CALL,
        description="Call a tool with arguments that fit its schema; returns its result.",
        input_schema={
            "type": "object",
            "properties": {"name": _TEXT, "arguments": {"type": "object"}},
            "required": ["name"],
        },
    ),
]
SCHEMAS = {tool.name: tool.input_schema for tool in TOOLS}


class _ListArguments(ToolQuery, kw_only=True):
    names: list[str] | None = None


class _CallArguments(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    arguments: msgspec.Raw = jsonrpc.EMPTY


_list_arguments = msgspec.json.Decoder(_ListArguments).decode
_call_arguments = msgspec.json.Decoder(_CallArguments).decode


class GatewayBackend(ProductBackend):
    """The same server with another list of tools."""

    instructions = f"{LIST} finds tools and their schemas, {CALL} calls one. {INSTRUCTIONS}"

    def input_schema(self, name: str) -> object:
        return SCHEMAS.get(name)

    async def list_tools(self, exchange: Exchange, params: m.PageParams) -> m.ToolList:
        only_page(params)
        return m.ToolList(tools=TOOLS)

    async def call_tool(self, exchange: Exchange, params: m.CallParams) -> m.CallResult:
        own = OWN.get(params.name)
        if own is None:
            raise _not_here(params.name)
        try:
            if own == LIST:
                return self._list(exchange, _read(_list_arguments, LIST, params.arguments))
            return await self._call_other(exchange, params)
        except (InvalidArguments, NotFound) as error:
            # As a result, so that the model can read it and try another tool.
            if error.reason not in ("invalid_arguments", "unknown_tool"):
                raise
            return failed(error)

    async def _call_other(self, exchange: Exchange, params: m.CallParams) -> m.CallResult:
        call = _read(_call_arguments, CALL, params.arguments)
        if call.name in OWN:
            raise InvalidArguments(f"{CALL} calls other tools; call {OWN[call.name]} directly.")
        inner = replace(params, name=call.name, arguments=_unquoted(call.arguments))
        return await super().call_tool(exchange, inner)

    def _list(self, exchange: Exchange, query: _ListArguments) -> m.CallResult:
        client = exchange.caller
        if query.names:
            return self._described(query.names, client)
        # Models send every argument there is; an empty one means that it is not set.
        query = replace(query, toolset=query.toolset or None)
        limit = query.limit or (DEFAULT_SEARCH_LIMIT if query.query else DEFAULT_LIMIT)
        page = self._search.page(query, client, exchange.toolsets, limit)
        tools = [self._short(tool, client) for tool in page.tools]
        lines = [f"{tool['name']}: {tool['summary']}" for tool in tools] or [_nothing(query)]
        content: m.Json = {"tools": tools}
        if page.next_cursor is not None:
            content["nextCursor"] = page.next_cursor
            lines.append(f"There are more: cursor {page.next_cursor}")
        return _listed(lines, content, page.tools)

    def _described(self, names: list[str], client: Client) -> m.CallResult:
        """The named tools in full, and a message for each name that does not exist."""
        if len(names) > MOST_NAMES:
            raise InvalidArguments(f"Give at most {MOST_NAMES} names at once.")
        tools, unknown, found = [], [], []
        for name in dict.fromkeys(names):
            try:
                found.append(self._search.find(name, client))
                tools.append(self._full(found[-1], client))
            except NotFound as error:
                unknown.append({"name": name, "message": error.message})
        lines = [_line(tool) for tool in tools]
        lines += [entry["message"] for entry in unknown]
        content: m.Json = {"tools": tools} | ({"unknown": unknown} if unknown else {})
        return _listed(lines, content, found)

    def _short(self, tool: Tool, client: Client) -> m.Json:
        summary = marked(tool.summary, self._listing.is_disabled(tool, client))
        return {"name": tool.name, "summary": summary}

    def _full(self, tool: Tool, client: Client) -> m.Json:
        """The description is left out where the summary is all of it."""
        info = self._listing.info(tool, client, whole=True)
        short = self._short(tool, client)
        is_longer = info.description != short["summary"]
        described: m.Json = {"description": info.description} if is_longer else {}
        hints: m.Json = {"annotations": info.annotations} if tool.annotations else {}
        return {**short, **described, "inputSchema": info.input_schema, **hints}


def _listed(lines: list[str], content: m.Json, tools: Iterable[Tool]) -> m.CallResult:
    meta = {UNTRUSTED: ["/structuredContent/tools"]} if any(tool.page for tool in tools) else UNSET
    listed = [m.text("\n".join(lines))]
    return m.CallResult(content=listed, structured_content=content, meta=meta)


def _line(tool: m.Json) -> str:
    """A tool as one line of JSON; the summary would repeat the start of the description."""
    omitted = "summary" if "description" in tool else ""
    return msgspec.json.encode({k: v for k, v in tool.items() if k != omitted}).decode()


def _read(decode: Any, tool: str, raw: msgspec.Raw) -> Any:
    try:
        return decode(jsonrpc.EMPTY if raw == b"null" else raw)
    except jsonrpc.UNREADABLE as error:
        raise InvalidArguments(f"{tool}: {error}.") from None


def _unquoted(arguments: msgspec.Raw) -> msgspec.Raw:
    """Accept arguments that a model wrote as a string with a JSON object."""
    if arguments == b"null":
        return jsonrpc.EMPTY
    if not bytes(arguments).startswith(b'"'):
        return arguments
    text = msgspec.json.decode(arguments, type=str).strip()
    return msgspec.Raw(text.encode()) if text.startswith("{") else arguments


def _nothing(query: ToolQuery) -> str:
    return "No tool has these words; try others." if query.query else "There is no such tool."


def _not_here(name: str) -> NotFound:
    hint = f" The gateway has {LIST} and {CALL}: call {name!r} with {CALL}."
    return NotFound(f"There is no tool called {name!r} here.{hint}", "unknown_tool")
