"""The suites' tools that ask the client nothing, and the table of all tools."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tabhub.agents.mcp.backend import Announcer, Change, Exchange
from tabhub.agents.mcp.elicitation import ClientQuestion, require_capabilities
from tabhub.wire.mcp.messages import CallResult, Json, ToolInfo, text
from tests.conformance.content import AUDIO, IMAGE, embedded

PAUSE_SECONDS = 0.05
NO_ARGUMENTS: Json = {"type": "object", "properties": {}}


@dataclass(frozen=True)
class Call:
    """The input of a tool."""

    exchange: Exchange
    arguments: Json
    news: Announcer


Handler = Callable[[Call], Awaitable[CallResult]]
TOOLS: dict[str, tuple[ToolInfo, Handler]] = {}


def tool(name: str, description: str, schema: Json = NO_ARGUMENTS) -> Callable[[Handler], Handler]:
    """Register a handler; the suites rely on the order of registration."""

    def register(handler: Handler) -> Handler:
        info = ToolInfo(name=name, description=description, input_schema=schema)
        TOOLS[name] = (info, handler)
        return handler

    return register


def result_of(*blocks: Json | str) -> CallResult:
    return CallResult(content=[text(b) if isinstance(b, str) else b for b in blocks])


@tool("test_simple_text", "Answers with a text.")
async def simple_text(call: Call) -> CallResult:
    return result_of("This is a simple text response for testing.")


@tool("test_image_content", "Answers with an image.")
async def image_content(call: Call) -> CallResult:
    return result_of(IMAGE)


@tool("test_audio_content", "Answers with a sound.")
async def audio_content(call: Call) -> CallResult:
    return result_of(AUDIO)


@tool("test_embedded_resource", "Answers with a resource.")
async def embedded_resource(call: Call) -> CallResult:
    content = "This is an embedded resource content."
    return result_of(embedded("test://embedded-resource", "text/plain", content))


@tool("test_multiple_content_types", "Answers with a text, an image and a resource.")
async def multiple_content_types(call: Call) -> CallResult:
    content = '{"test":"data","value":123}'
    resource = embedded("test://mixed-content-resource", "application/json", content)
    return result_of("Multiple content types test:", IMAGE, resource)


@tool("test_error_handling", "Answers that it failed.")
async def error_handling(call: Call) -> CallResult:
    message = text("This tool intentionally returns an error for testing")
    return CallResult(content=[message], is_error=True)


@tool("test_tool_with_progress", "Reports progress before it answers.")
async def with_progress(call: Call) -> CallResult:
    for percent in (0, 50, 100):
        await call.exchange.progress(percent, 100)
        await asyncio.sleep(PAUSE_SECONDS)
    return result_of("Done.")


@tool("test_tool_with_logging", "Writes to the log before it answers.")
async def with_logging(call: Call) -> CallResult:
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await call.exchange.log("info", line)
        await asyncio.sleep(PAUSE_SECONDS)
    return result_of("Logged.")


@tool("test_logging_tool", "Writes to the log of clients that requested it.")
async def logging_tool(call: Call) -> CallResult:
    await call.exchange.log("info", "A line for clients that requested it.")
    return result_of("Logged.")


@tool("test_reconnection", "Lets its connection go and answers when the client is back.")
async def reconnection(call: Call) -> CallResult:
    await call.exchange.close_stream()
    await asyncio.sleep(2 * PAUSE_SECONDS)
    return result_of("Reconnected.")


@tool("test_missing_capability", "Needs a client that can sample.")
async def missing_capability(call: Call) -> CallResult:
    question = {"any": ClientQuestion("sampling/createMessage")}
    require_capabilities(question, call.exchange.capabilities)
    return result_of("The client can sample.")


@tool("test_streaming_elicitation", "Streams before it answers, and asks nothing on the stream.")
async def streaming_elicitation(call: Call) -> CallResult:
    await call.exchange.progress(1, 1)
    return result_of("Nothing was asked.")


@tool("test_trigger_tool_change", "Announces that the tools have changed.")
async def trigger_tool_change(call: Call) -> CallResult:
    call.news.announce(Change("tools"))
    return result_of("Announced.")


@tool("test_trigger_prompt_change", "Announces that the prompts have changed.")
async def trigger_prompt_change(call: Call) -> CallResult:
    call.news.announce(Change("prompts"))
    return result_of("Announced.")


@tool(
    "test_x_mcp_header",
    "Has an argument that travels in a header too.",
    {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
)
async def x_mcp_header(call: Call) -> CallResult:
    return result_of(f"Region: {call.arguments.get('region')}")


_ADDRESS: Json = {
    "$anchor": "addressDef",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
_SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": _ADDRESS},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@tool("json_schema_2020_12_tool", "Has a schema that must arrive unchanged.", _SCHEMA_2020_12)
async def json_schema_2020_12(call: Call) -> CallResult:
    return result_of("Accepted.")
