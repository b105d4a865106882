"""A double of the page worker library: sends the messages of a test to `/page`."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from tabhub.server.serving import Server
from tests.support.eventually import PATIENCE

T = TypeVar("T")
SHOP = "https://shop.example"
ONE = "550e8400-e29b-41d4-a716-446655440000"
CHALLENGE = "c0ffee"
OTHER = "6fa459ea-ee8a-4ca4-894e-db77e160355e"


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}, **more}


class FakeWorker:
    """One socket of one origin."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.pairing: dict[str, str] = {}
        """What a page keeps for its next connection."""
        self._id = 0

    async def paired(self, port: int, pairing: dict[str, str] | None) -> dict[str, str]:
        """Receive a pairing, or use an earlier one."""
        first = await self.next()
        if pairing is None:
            assert first["method"] == "page/paired"
            given: dict[str, str] = first["params"]
            return given
        assert first["params"] == {"proof": proof(port, CHALLENGE, pairing["key"])}
        await self.notify("page/token", token=pairing["token"])
        return pairing

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

    async def answered(self, calling: Awaitable[T]) -> T:
        """Make a call that reaches this worker, which answers with the id of the call's tab."""
        running = asyncio.ensure_future(calling)
        request = await self.next()
        text = {"type": "text", "text": request["params"]["tabId"]}
        await self.answer(request, {"content": [text]})
        return await running

    async def refuse(self, request: dict[str, Any], reason: str, message: str = "no") -> None:
        error = {"code": -32000, "message": message, "data": {"reason": reason}}
        await self._send({"id": request["id"], "error": error})

    async def _send(self, message: dict[str, Any]) -> None:
        await self.socket.send(json.dumps({"jsonrpc": "2.0", **message}))


def proof(port: int, challenge: str, key: str) -> list[int]:
    """What a server must send to show that it knows the key."""
    return list(hashlib.sha256(f"{port}:{challenge}:{key}".encode()).digest())


@asynccontextmanager
async def connecting(
    port: int,
    origin: str | None = SHOP,
    protocol: str = "tabhub-page",
    host: str | None = None,
    id: str | None = None,
    hello: bool = True,
) -> AsyncIterator[FakeWorker]:
    """A worker that has said hello, and may still need pairing."""
    async with connect(
        f"ws://127.0.0.1:{port}/page",
        origin=None if origin is None else Origin(origin),
        subprotocols=[Subprotocol(protocol)],
        additional_headers={} if host is None else {"Host": host},
    ) as socket:
        worker = FakeWorker(socket)
        if hello and protocol == "tabhub-page":
            await worker.notify("page/hello", id=id, challenge=CHALLENGE)
        yield worker


@asynccontextmanager
async def admitted(
    server: Server, origin: str = SHOP, pairing: dict[str, str] | None = None
) -> AsyncIterator[FakeWorker]:
    """A worker that the server has admitted: with what an earlier one got, or newly paired."""
    if pairing is None:
        server.app.pairing.confirm(origin, None)
    async with connecting(server.port, origin, id=pairing["id"] if pairing else None) as worker:
        worker.pairing = await worker.paired(server.port, pairing)
        assert (await worker.next())["method"] == "page/ready"
        yield worker
