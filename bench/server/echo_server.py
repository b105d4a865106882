"""The whole product on a port, with two more tools that need no browser: an echo and a pause."""

import asyncio
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop

from tabhub.agents.http.listening import listen
from tabhub.calls.call import Call, Source
from tabhub.config.paths import Home
from tabhub.config.settings import AuditSettings, RateSettings, Settings
from tabhub.hub.tools import Tool
from tabhub.server.app import App
from tabhub.server.serving import Server
from tabhub.wire.mcp.messages import CallResult, text

SECRET = "5ec" + "0" * 61
ECHO = Tool(
    name="echo",
    description="Returns its text.",
    input_schema={
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
        "required": ["text"],
        "additionalProperties": False,
    },
    source="echo",
    needs_tab=False,
)

PAUSE_SECONDS = 0.04
PAUSE = replace(ECHO, name="pause", description="Returns its text as late as a browser would.")


class EchoSource(Source):
    """Runs both."""

    async def run(self, call: Call) -> CallResult:
        if call.tool.name == PAUSE.name:
            await asyncio.sleep(PAUSE_SECONDS)
        return CallResult(content=[text(call.arguments["text"])])


def echo_app(home: Home) -> App:
    """The product, audit log included, with the echo added."""
    # No limits: the clients of a bench call more often than any agent.
    rates = RateSettings(sessions_per_minute=0, admin_per_minute=0)
    settings = Settings(rates=rates, audit=AuditSettings(client_bytes_per_day=0))
    app = App(settings, SECRET, home=home)
    app.sources[ECHO.source] = EchoSource()
    app.hub.tools.add(ECHO, PAUSE)
    return app


async def main() -> None:
    listener = listen("127.0.0.1", 0)
    listener.listen()
    with TemporaryDirectory() as folder:
        server = Server(echo_app(Home(Path(folder)).create()), listener)
        serving = asyncio.create_task(server.serve())
        print(server.port, flush=True)
        await serving


if __name__ == "__main__":
    uvloop.run(main())
