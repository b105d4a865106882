"""The bridge as a process: from its first line to its last."""

import asyncio
import logging
import signal
import sys
from collections.abc import Sequence
from urllib.parse import quote

from tabhub.cli.stdio.bridge import Bridge
from tabhub.cli.stdio.home_server import Server
from tabhub.cli.stdio.pipes import Lines, Output, take_over
from tabhub.config import settings
from tabhub.config.paths import Home
from tabhub.hub.toolsets import chosen

FLUSH_SECONDS = 2.0


def run(*, gateway: bool, toolsets: str | None, starter: Sequence[str]) -> None:
    """Relay until stdin closes, nobody reads stdout any more, or a signal comes."""
    home = Home.from_environment().create()
    longest = settings.load(home).limits.body_bytes
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="tabhub: %(message)s")
    path = "/mcp/gateway" if gateway else "/mcp"
    if toolsets is not None:
        chosen(toolsets.split(","))
        path += f"?toolsets={quote(toolsets, safe=',')}"
    asyncio.run(_relay(Server(home, path, starter), longest))


async def _relay(server: Server, longest: int) -> None:
    stopping = asyncio.Event()
    source, target = take_over()
    lines, output = Lines(source, longest), Output(target, stopping.set)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    bridge = Bridge(server, lines, output)
    lines.start()
    working, stopped = asyncio.create_task(bridge.run()), asyncio.create_task(stopping.wait())
    await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
    for task in (working, stopped):
        task.cancel()
    await bridge.end()
    await output.flush(FLUSH_SECONDS)
    if working.done() and not working.cancelled():
        working.result()
