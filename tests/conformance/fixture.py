"""The server that the public suites examine: their whole inventory, on our protocol layer alone."""

import msgspec

from tabhub.agents.mcp.backend import Backend, Exchange
from tabhub.errors import InvalidArguments, NotFound
from tabhub.wire.mcp import messages as m
from tests.conformance import content, questions
from tests.conformance.tools import TOOLS, Call

_arguments = msgspec.json.Decoder(m.Json).decode


class Fixture(Backend):
    """A backend with every feature of an MCP server."""

    info = m.Implementation(name="tabhub-fixture", version="1")
    instructions = "A server for conformance suites."

    def capabilities(self) -> m.Json:
        return {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "prompts": {"listChanged": True},
            "logging": {},
            "completions": {},
        }

    def input_schema(self, name: str) -> object:
        return TOOLS[name][0].input_schema if name in TOOLS else None

    async def list_tools(self, exchange: Exchange, params: m.PageParams) -> m.ToolList:
        return m.ToolList(tools=[info for info, _ in TOOLS.values()])

    async def call_tool(self, exchange: Exchange, params: m.CallParams) -> m.CallResult:
        if params.name not in TOOLS:
            raise NotFound(f"There is no tool {params.name!r}.", "unknown_tool")
        try:
            arguments = _arguments(params.arguments)
        except ValueError as error:
            raise InvalidArguments(f"Wrong arguments: {error}.") from None
        return await TOOLS[params.name][1](Call(exchange, arguments, self.news))

    async def list_resources(self, exchange: Exchange, params: m.PageParams) -> m.McpResourceList:
        return m.McpResourceList(resources=content.RESOURCES)

    async def list_templates(self, exchange: Exchange, params: m.PageParams) -> m.TemplateList:
        return m.TemplateList(resource_templates=content.TEMPLATES)

    async def read_resource(self, exchange: Exchange, params: m.UriParams) -> m.ReadResult:
        return m.ReadResult(contents=[content.read(params.uri)])

    async def list_prompts(self, exchange: Exchange, params: m.PageParams) -> m.PromptList:
        return m.PromptList(prompts=content.PROMPTS)

    async def get_prompt(self, exchange: Exchange, params: m.GetPromptParams) -> m.PromptResult:
        if params.name == "test_input_required_result_prompt":
            answer = await questions.ask_one(exchange, "user_context", questions.CONTEXT)
            block = m.text(f"Use this context: {answer.get('content')}")
            return m.PromptResult(messages=[{"role": "user", "content": block}])
        messages = content.prompt_messages(params.name, params.arguments or {})
        return m.PromptResult(messages=messages)

    async def complete(self, exchange: Exchange, params: m.CompleteParams) -> m.CompleteResult:
        values = [v for v in ("testValue1", "testValue2") if v.startswith(params.argument.value)]
        return m.CompleteResult(
            completion={"values": values, "total": len(values), "hasMore": False}
        )
