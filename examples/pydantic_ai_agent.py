"""An agent of Pydantic AI that uses tabhub: `python pydantic_ai_agent.py URL [MODEL]`.

With a model, such as `anthropic:claude-opus-4-5`, it needs that provider's package and key.
Without one, a function plays the model, so that the example runs anywhere.
"""

import asyncio
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

URL = sys.argv[1]
BRIDGE = StdioTransport("tabhub", ["start", "--stdio", "--browser"])
# The first start also starts a browser, which may take longer than the usual five seconds.
TABHUB = MCPToolset(BRIDGE, include_instructions=True, init_timeout=60)


def played(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """What a model would do: open the page, look for its heading, answer."""
    requests = [message for message in messages if isinstance(message, ModelRequest)]
    results = [part for part in requests[-1].parts if isinstance(part, ToolReturnPart)]
    if not results:
        return ModelResponse([ToolCallPart("browser_open_tab", {"url": URL})])
    if results[0].tool_name == "browser_open_tab":
        return ModelResponse([ToolCallPart("browser_find", {"query": "heading", "limit": 1})])
    return ModelResponse([TextPart(f"The heading of the page: {results[0].content}")])


async def main() -> None:
    model = sys.argv[2] if len(sys.argv) > 2 else FunctionModel(played)
    agent = Agent(model, toolsets=[TABHUB], instructions="Use the browser; be brief.")
    async with agent:
        result = await agent.run(f"Which heading does {URL} have?")
    print(result.output)


asyncio.run(main())
