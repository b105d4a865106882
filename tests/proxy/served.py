"""A node of the proxy on ports of this machine, and real WebSockets to it."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import websockets.asyncio.client as ws

from tabhub.proxy.identity import issue
from tabhub.proxy.proxy_server import ProxyServer, ProxySettings
from tests.support.eventually import PATIENCE
from tests.support.http_client import NO_TLS, authorization

SECRET = b"0123456789abcdef0123456789abcdef"
Json = dict[str, Any]


class ProxyAddress:
    """Where a node listens, in this process or another."""

    def __init__(self, port: int, admin: int, scheme: str = "http") -> None:
        self.port = port
        self.admin = f"http://127.0.0.1:{admin}"
        self.public = f"{scheme}://127.0.0.1:{port}"

    def connect(self, path: str, name: str | None = None, **more: Any) -> ws.connect:
        """A socket to the service, perhaps under another name."""
        scheme = "wss" if self.public.startswith("https") else "ws"
        url = f"{scheme}://{name or f'127.0.0.1:{self.port}'}{path}"
        return ws.connect(
            url,
            host="127.0.0.1",
            port=self.port,
            max_size=None,
            compression=None,
            open_timeout=PATIENCE,
            ping_timeout=PATIENCE,
            **more,
        )

    def http(self, token: str | None = None) -> httpx.AsyncClient:
        headers = authorization(token)
        return httpx.AsyncClient(headers=headers, timeout=PATIENCE, verify=NO_TLS)


class ServedProxy(ProxyAddress):
    """A node in this process."""

    def __init__(self, server: ProxyServer, port: int, admin: int, scheme: str) -> None:
        super().__init__(port, admin, scheme)
        self.server = server


def listener() -> socket.socket:
    found = socket.socket()
    found.bind(("127.0.0.1", 0))
    found.listen(1000)
    return found


@asynccontextmanager
async def served(is_joined: bool = True, **settings: Any) -> AsyncIterator[ServedProxy]:
    """A node, which has joined the others unless that cannot be."""
    public, admin = listener(), listener()
    chosen = ProxySettings(**{"secret": SECRET, "drain_seconds": 0.0, **settings})
    server = ProxyServer(chosen, public, admin)
    running = asyncio.create_task(server.serve())
    scheme = "https" if chosen.certificate else "http"
    found = ServedProxy(server, public.getsockname()[1], admin.getsockname()[1], scheme)
    if is_joined:
        async with asyncio.timeout(PATIENCE):
            await server.joined.wait()
    try:
        yield found
    finally:
        await server.stop()
        await asyncio.wait_for(running, PATIENCE)


class Side:
    """One side of a socket."""

    def __init__(self, connection: ws.ClientConnection) -> None:
        self.connection = connection
        self.seen: list[Json] = []

    async def send(self, message: Json | str | bytes) -> None:
        is_raw = isinstance(message, str | bytes)
        await self.connection.send(message if is_raw else json.dumps(message))

    async def next(self, **members: Any) -> Json:
        """The next message that has these members; others are kept in `seen`."""
        async with asyncio.timeout(PATIENCE):
            while True:
                message: Json = json.loads(await self.connection.recv())
                if all(message.get(name) == value for name, value in members.items()):
                    return message
                self.seen.append(message)

    async def ask(self, id: Any, method: str, params: Json | None = None, **more: Any) -> Json:
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}, **more}
        await self.send(request)
        return await self.next(id=id)

    async def closed(self) -> tuple[int, str]:
        """How the socket was closed."""
        async with asyncio.timeout(PATIENCE):
            await self.connection.wait_closed()
        return self.connection.close_code or 0, self.connection.close_reason or ""


def token(user: str = "ann", seconds: float = 3600, **claims: Any) -> str:
    return issue(SECRET, user, seconds, **claims)


async def answered(browser: Side, **answer: Any) -> Json:
    """Answer the next request that reaches an extension; the request."""
    while "id" not in (request := await browser.next(jsonrpc="2.0")):
        pass
    await browser.send({"jsonrpc": "2.0", "id": request["id"], **answer})
    return request


@asynccontextmanager
async def extension(
    proxy: ProxyAddress, given: str | None = None, profile: str | None = None, **more: Any
) -> AsyncIterator[tuple[Side, str]]:
    """An extension that has authenticated, and its id."""
    async with proxy.connect("/extension", **more) as connection:
        side = Side(connection)
        asked = await side.next(method="authenticate")
        about = {} if profile is None else {"profile_id": profile}
        credentials = {"name": "Chrome 141", "accessToken": given or token(), **about}
        await side.send({"jsonrpc": "2.0", "id": asked["id"], "result": credentials})
        known = await side.next(method="authenticated")
        yield side, known["params"]["extension_id"]


@asynccontextmanager
async def client(proxy: ProxyAddress, given: str | None = None, **more: Any) -> AsyncIterator[Side]:
    """A client that has authenticated."""
    async with proxy.connect("/mcp", **more) as connection:
        side = Side(connection)
        answer = await side.ask(1, "mcp_handshake", {"accessToken": given or token()})
        assert "error" not in answer, answer
        yield side
