"""The whole product on a port, with one tool more: an echo that needs no browser."""

import asyncio
import time

import uvloop

from tabhub.agents.mcp.http import McpEndpoint
from tabhub.agents.mcp.product import ProductBackend
from tabhub.app import App, Server, listen
from tabhub.calls.ports import Job
from tabhub.calls.runner import Runner
from tabhub.config.settings import Settings
from tabhub.hub.tools import Tool
from tabhub.wire.mcp.messages import CallResult, text

SECRET = "5ec" + "0" * 61
ECHO = Tool(
    name="echo",
    description="Says the same again.",
    input_schema={
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
        "required": ["text"],
        "additionalProperties": False,
    },
    source="echo",
    needs_tab=False,
)


class EchoSource:
    """Answers at once."""

    async def run(self, job: Job) -> CallResult:
        return CallResult(content=[text(job.arguments["text"])])


class EchoApp(App):
    """The product, its endpoint on a runner that knows the echo."""

    def __init__(self) -> None:
        super().__init__(Settings(), SECRET)
        self.tools.add(ECHO)
        sources = {ECHO.source: EchoSource()}
        runner = Runner(
            self.tools, self.tabs, self.sessions, sources, time.monotonic, self.settings.limits
        )
        backend = ProductBackend(self.tools, self.tabs, self.sessions, runner)
        self.mcp = McpEndpoint(backend, clock=time.monotonic)


async def main() -> None:
    listener = listen("127.0.0.1", 0)
    listener.listen()
    server = Server(EchoApp(), listener)
    serving = asyncio.create_task(server.serve())
    print(server.port, flush=True)
    await serving


if __name__ == "__main__":
    uvloop.run(main())
