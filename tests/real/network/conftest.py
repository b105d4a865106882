"""An echo server for pages with web sockets."""

from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.server import ServerConnection, serve


@pytest.fixture
async def echo() -> AsyncIterator[str]:
    async def answer(socket: ServerConnection) -> None:
        async for message in socket:
            await socket.send(message)

    async with serve(answer, "127.0.0.1", 0) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/echo"
