"""A backend whose tools follow the tests and record how their calls ended."""

import asyncio
from typing import Any

import msgspec

from tabhub.agents.mcp.backend import Backend, Change, Exchange
from tabhub.agents.mcp.elicitation import ClientQuestion, elicit
from tabhub.errors import NotFound
from tabhub.wire.mcp import messages as m

NAME = elicit("Name?", {"type": "object", "properties": {"name": {"type": "string"}}})
SAMPLE = ClientQuestion("sampling/createMessage", {"messages": [], "maxTokens": 1})
SCHEMAS: dict[str, Any] = {
    "place": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "zone": {"type": "integer", "x-mcp-header": "Zone"},
            "near": {"type": "boolean", "x-mcp-header": "Near"},
        },
    },
    "misdeclared": {
        "type": "object",
        "properties": {"list": {"type": "array", "x-mcp-header": "List"}},
    },
}


def result_of(value: Any) -> m.CallResult:
    return m.CallResult(content=[m.text(str(value))])


class Workbench(Backend):
    """Each tool is a method; some of them wait for `release`."""

    info = m.Implementation(name="workbench", version="1")

    def __init__(self) -> None:
        super().__init__()
        self.started = asyncio.Event()
        self.release = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.ended: list[str] = []
        self.listed: list[Any] = []
        self.kept = result_of("kept")
        self._lines = [f"line {number}" for number in range(3)]

    def capabilities(self) -> m.Json:
        return {
            "tools": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "prompts": {},
            "logging": {},
        }

    def input_schema(self, name: str) -> object:
        return SCHEMAS.get(name)

    def session_ended(self, session: str) -> None:
        self.ended.append(session)

    async def list_tools(self, exchange: Exchange, params: m.PageParams) -> m.ToolList:
        return m.ToolList(tools=self.listed)

    async def read_resource(self, exchange: Exchange, params: m.UriParams) -> m.ReadResult:
        raise NotFound("No such resource.", "unknown_resource", data={"uri": params.uri})

    async def call_tool(self, exchange: Exchange, params: m.CallParams) -> m.CallResult:
        tool = getattr(self, f"tool_{params.name}", None)
        if tool is None:
            raise NotFound(f"There is no tool {params.name!r}.", "unknown_tool")
        result: m.CallResult = await tool(exchange, msgspec.json.decode(params.arguments))
        return result

    async def tool_echo(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        return result_of(arguments.get("text"))

    async def tool_place(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        return result_of(arguments)

    async def tool_misdeclared(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        return result_of(arguments)

    async def tool_same(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        return self.kept

    async def tool_wait(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        self.started.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return result_of("released")

    async def tool_progress(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        for step in range(3):
            await exchange.progress(step, 3, self._lines[step])
        return result_of("done")

    async def tool_crowd(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        await asyncio.gather(*(exchange.progress(step) for step in range(20)))
        return result_of("done")

    async def tool_progress_then_wait(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        await exchange.progress(1)
        return await self.tool_wait(exchange, arguments)

    async def tool_log(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        for level in m.LOG_LEVELS:
            await exchange.log(level, level, "bench")
        return result_of("logged")

    async def tool_drop_stream(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        await exchange.close_stream()
        await exchange.progress(1)
        return await self.tool_wait(exchange, arguments)

    async def tool_ask(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        answers = await exchange.ask({"who": NAME})
        return result_of(answers["who"])

    async def tool_ask_both(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        answers = await exchange.ask({"who": NAME, "what": SAMPLE})
        return result_of(sorted(answers))

    async def tool_ask_with_state(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        await exchange.ask({"who": NAME}, state={"seen": 1})
        return result_of(exchange.state)

    async def tool_boom(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        raise RuntimeError("a secret that no client may see")

    async def tool_change(self, exchange: Exchange, arguments: m.Json) -> m.CallResult:
        self.news.announce(Change("tools"))
        return result_of("announced")
