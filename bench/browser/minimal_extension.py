"""A bare WebSocket server for the extension in `minimal_extension/`: the floor of each time."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

SOURCE = Path(__file__).with_name("minimal_extension")
CONNECT_SECONDS = 60


class MinimalExtension:
    """Runs one browser command with one message each way."""

    def __init__(self, extension: Path) -> None:
        self.extension = extension
        self._socket: asyncio.Future[ServerConnection] = asyncio.Future()

    async def connected(self) -> None:
        await asyncio.wait_for(asyncio.shield(self._socket), CONNECT_SECONDS)

    async def evaluate(self, tab: int) -> None:
        """Evaluate `1 + 1` in a tab, in the fastest way."""
        assert await self.ask("script", tab=tab) == 2

    async def ask(self, command: str, **arguments: object) -> Any:
        socket = self._socket.result()
        await socket.send(json.dumps({"command": command, **arguments}))
        answer = json.loads(await socket.recv())
        if "error" in answer:
            raise RuntimeError(f"{command}: {answer['error']}")
        return answer["result"]

    async def accept(self, socket: ServerConnection) -> None:
        """Hold the extension's connection until it closes."""
        self._socket.set_result(socket)
        await socket.wait_closed()


@asynccontextmanager
async def serve_minimal(folder: Path) -> AsyncIterator[MinimalExtension]:
    """Serve, with a copy of the extension that has the port in a file."""
    shutil.copytree(SOURCE, folder)
    minimal = MinimalExtension(folder)
    async with serve(minimal.accept, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        (folder / "port.json").write_text(json.dumps({"port": port}))
        yield minimal
