"""The server's side of the floor: a bare WebSocket server with one extension on it."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

SOURCE = Path(__file__).with_name("floor")
CONNECT_SECONDS = 60


class Floor:
    """Does one thing in the browser, by one message each way."""

    def __init__(self, extension: Path) -> None:
        self.extension = extension
        self._socket: asyncio.Future[ServerConnection] = asyncio.Future()

    async def connected(self) -> None:
        await asyncio.wait_for(asyncio.shield(self._socket), CONNECT_SECONDS)

    async def evaluate(self, tab: int) -> None:
        """`1 + 1` in a tab, the quickest way there is."""
        assert await self.ask("script", tab=tab) == 2

    async def ask(self, deed: str, **given: object) -> Any:
        socket = self._socket.result()
        await socket.send(json.dumps({"deed": deed, **given}))
        answer = json.loads(await socket.recv())
        if "error" in answer:
            raise RuntimeError(f"{deed}: {answer['error']}")
        return answer["result"]

    async def meet(self, socket: ServerConnection) -> None:
        """An extension has come; it stays as long as it likes."""
        self._socket.set_result(socket)
        await socket.wait_closed()


@asynccontextmanager
async def floor(folder: Path) -> AsyncIterator[Floor]:
    """Serve, with a copy of the extension in a folder that knows where."""
    shutil.copytree(SOURCE, folder)
    found = Floor(folder)
    async with serve(found.meet, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        (folder / "port.json").write_text(json.dumps({"port": port}))
        yield found
