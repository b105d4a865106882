"""An MCP client on the two pipes of a bridge, and a server for the bridge to find."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from types import MappingProxyType
from typing import Any

import msgspec

from tabhub.agents.http.listening import listen
from tabhub.agents.http.messages import send_json
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.agents.mcp.session import SessionStore
from tabhub.cli.running import PidFile
from tabhub.config import secret
from tabhub.config.clients import Client
from tabhub.config.paths import Home
from tabhub.config.secret import prove
from tabhub.errors import from_reason
from tabhub.wire.asgi import Receive, Scope, Send
from tests.agents.mcp.clients import NEWEST, PREFIX, Uvicorn
from tests.agents.mcp.workbench import Workbench
from tests.support.eventually import PATIENCE

Json = dict[str, Any]
LINE_BYTES = 64 * 1024 * 1024
_pids = count(4_000_000)


class Pipe:
    """A client of a bridge: it writes lines and reads lines."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.unread: list[Json] = []
        """Messages that were read while waiting for others."""
        self._ids = count(1)

    async def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        await self.process.stdin.drain()

    async def send(self, message: Any) -> None:
        await self.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")

    async def notify(self, method: str, params: Json | None = None) -> None:
        await self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    async def ask(self, method: str, params: Json | None = None, id: Any = None) -> Any:
        """Send a request and return its id."""
        number = next(self._ids) if id is None else id
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        await self.send(message if params is None else {**message, "params": params})
        return number

    async def line(self) -> bytes:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            return await self.process.stdout.readline()

    async def read(self) -> Json:
        line = await self.line()
        assert line, "the bridge has closed its stdout"
        message: Json = json.loads(line)
        return message

    async def answer(self, id: Any) -> Json:
        """The answer to a request; other messages are kept in `unread`."""
        while True:
            message = await self.read()
            if message.get("id") == id and "method" not in message:
                return message
            self.unread.append(message)

    async def next(self, method: str) -> Json:
        """The next message of this kind, already read or not."""
        for message in self.unread:
            if message.get("method") == method:
                self.unread.remove(message)
                return message
        while (message := await self.read()).get("method") != method:
            self.unread.append(message)
        return message

    async def request(self, method: str, params: Json | None = None, id: Any = None) -> Json:
        return await self.answer(await self.ask(method, params, id))

    async def call(self, tool: str, **arguments: Any) -> Json:
        return await self.request("tools/call", {"name": tool, "arguments": arguments})

    async def initialize(self, version: str = "2025-11-25", **capabilities: Any) -> Json:
        params = {
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": {"name": "pipe", "version": "1"},
        }
        answer = await self.request("initialize", params)
        await self.notify("notifications/initialized")
        return answer

    async def close(self) -> int:
        """Close stdin, as a client does when it exits."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return await asyncio.wait_for(self.process.wait(), PATIENCE)


def alone(params: Json | None = None, **capabilities: Any) -> Json:
    """The params of a request of the sessionless era, with all metadata."""
    meta = {PREFIX + "protocolVersion": NEWEST, PREFIX + "clientCapabilities": capabilities}
    fields = params or {}
    return {**fields, "_meta": {**meta, **fields.get("_meta", {})}}


@asynccontextmanager
async def bridged(
    home: Home,
    *flags: str,
    stdout: int = asyncio.subprocess.PIPE,
    stderr: int | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[Pipe]:
    """A bridge in its own process."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tabhub", "start", "--stdio", "--port", "0", *flags),
        env={**os.environ, "TABHUB_HOME": str(home.root), **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=stdout,
        stderr=stderr,
        limit=LINE_BYTES,
    )
    try:
        yield Pipe(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


class Bench:
    """A server in the test: the workbench behind an endpoint that proves the secret."""

    def __init__(self, home: Home, store: SessionStore | None = None) -> None:
        self.work = Workbench()
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        """Method, path with query, and headers of each request to the endpoint."""
        self.turns_away: str | None = None
        """The reason why no new session is created."""
        self.endpoint = McpEndpoint(self.work, clock=lambda: 0.0, store=store, admit=self._admit)
        self._home = home
        self._listener = listen("127.0.0.1", 0)
        self.port: int = self._listener.getsockname()[1]
        self._secret = secret.prepare(home, self.port).secret

    def _admit(self, client: Client) -> None:
        if self.turns_away is not None:
            raise from_reason(self.turns_away, "Not now.")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = scope["query_string"].decode()
        if scope["path"] == "/health":
            proof = prove(self._secret, query.partition("challenge=")[2], self.port)
            body = json.dumps({"status": "ok", "proof": proof}).encode()
            await send_json(send, 200, body)
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.requests.append((scope["method"], f"{scope['path']}?{query}", headers))
        await self.endpoint(scope, receive, send)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Bench"]:
        server = Uvicorn.on(self)
        running = asyncio.create_task(server.serve([self._listener]))
        self._home.pid.write_bytes(msgspec.json.encode(PidFile(next(_pids), self.port)))
        try:
            yield self
        finally:
            self.endpoint.close()
            server.should_exit = server.force_exit = True
            await running
            for connection in list(server.server_state.connections):
                connection.transport.abort()

    def headers(self, method: str) -> list[dict[str, str]]:
        return [headers for name, _, headers in self.requests if name == method]


@asynccontextmanager
async def bench(home: Home, store: SessionStore | None = None) -> AsyncIterator[Bench]:
    async with Bench(home, store).serving() as running:
        yield running
