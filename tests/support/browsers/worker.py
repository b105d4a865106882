"""A double of the page worker library: sends the messages of a test to `/page`."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from tests.support.eventually import PATIENCE

SHOP = "https://shop.example"
ONE = "550e8400-e29b-41d4-a716-446655440000"
OTHER = "6fa459ea-ee8a-4ca4-894e-db77e160355e"


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}, **more}


class FakeWorker:
    """One socket of one origin."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._id = 0

    async def notify(self, method: str, **params: Any) -> None:
        await self._send({"method": method, "params": params})

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request; return the response."""
        self._id += 1
        await self._send({"id": self._id, "method": method, "params": params})
        while (message := await self.next()).get("id") != self._id:
            pass
        return message

    async def register(self, tab: str = ONE, *tools: dict[str, Any], **more: Any) -> dict[str, Any]:
        page = {"url": f"{SHOP}/", "title": "Shop", **more}
        return await self.ask("browser/registerTools", tabId=tab, tools=list(tools), **page)

    async def next(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(await asyncio.wait_for(self.socket.recv(), PATIENCE))
        return found

    async def closed(self) -> tuple[int | None, str | None]:
        """Wait until the connection closes; return the code and reason."""
        with suppress(ConnectionClosed):
            while True:
                await asyncio.wait_for(self.socket.recv(), PATIENCE)
        return self.socket.close_code, self.socket.close_reason

    async def answer(self, request: dict[str, Any], payload: Any, success: bool = True) -> None:
        await self._send({"id": request["id"], "result": {"success": success, "payload": payload}})

    async def refuse(self, request: dict[str, Any], reason: str, message: str = "no") -> None:
        error = {"code": -32000, "message": message, "data": {"reason": reason}}
        await self._send({"id": request["id"], "error": error})

    async def _send(self, message: dict[str, Any]) -> None:
        await self.socket.send(json.dumps({"jsonrpc": "2.0", **message}))


@asynccontextmanager
async def connecting(
    port: int, origin: str | None = SHOP, protocol: str = "tabhub-page", host: str | None = None
) -> AsyncIterator[FakeWorker]:
    """A worker that has connected and may still need pairing."""
    async with connect(
        f"ws://127.0.0.1:{port}/page",
        origin=None if origin is None else Origin(origin),
        subprotocols=[Subprotocol(protocol)],
        additional_headers={} if host is None else {"Host": host},
    ) as socket:
        yield FakeWorker(socket)


@asynccontextmanager
async def admitted(port: int, origin: str = SHOP) -> AsyncIterator[FakeWorker]:
    """A worker that the server has admitted."""
    async with connecting(port, origin) as worker:
        assert (await worker.next())["method"] == "page/ready"
        yield worker
