"""Small MCP clients for both eras, over any httpx client."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from itertools import count
from typing import Any, Protocol

import httpx
import uvicorn

from tabhub.agents.mcp.http import McpEndpoint
from tabhub.wire.asgi import App, Receive, Scope, Send
from tests.support.eventually import PATIENCE, eventually
from tests.support.http_client import NO_TLS

Json = dict[str, Any]
PREFIX = "io.modelcontextprotocol/"
NEWEST = "2026-07-28"
BOTH = "application/json, text/event-stream"


class Client:
    """Posts messages with the headers of its era."""

    def __init__(
        self, http: httpx.AsyncClient, headers: dict[str, str], path: str = "/mcp"
    ) -> None:
        self.http = http
        self.path = path
        self.headers = {"accept": BOTH, "content-type": "application/json", **headers}
        self._ids = count(1)

    async def send(self, body: Any, **headers: str) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body)
        return await self.http.post(self.path, content=content, headers={**self.headers, **headers})

    async def request(
        self, method: str, params: Json | None = None, id: Any = None
    ) -> httpx.Response:
        message, headers = self.message(method, params, id)
        return await self.send(message, **headers)

    def streaming(
        self, method: str, params: Json | None = None, id: Any = None
    ) -> AbstractAsyncContextManager[httpx.Response]:
        message, headers = self.message(method, params, id)
        return self.http.stream(
            "POST", self.path, json=message, headers={**self.headers, **headers}
        )

    async def call(self, tool: str, meta: Json | None = None, **arguments: Any) -> httpx.Response:
        return await self.request("tools/call", called(tool, meta, **arguments))

    def message(self, method: str, params: Json | None, id: Any) -> tuple[Json, dict[str, str]]:
        number = next(self._ids) if id is None else id
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        return (message if params is None else {**message, "params": params}), {}

    async def notify(self, method: str, params: Json | None = None) -> httpx.Response:
        return await self.send({"jsonrpc": "2.0", "method": method, "params": params or {}})


class SessionClient(Client):
    """A client of the handshake era, after the handshake."""

    def __init__(
        self, http: httpx.AsyncClient, version: str, session: str, path: str = "/mcp"
    ) -> None:
        super().__init__(http, {"mcp-protocol-version": version, "mcp-session-id": session}, path)
        self.session = session

    def listening(self, after: str | None = None) -> AbstractAsyncContextManager[httpx.Response]:
        headers = {**self.headers, "accept": "text/event-stream"}
        if after is not None:
            headers["last-event-id"] = after
        return self.http.stream("GET", self.path, headers=headers)

    async def end(self) -> httpx.Response:
        return await self.http.delete(self.path, headers=self.headers)


class LoneClient(Client):
    """A client of the sessionless era: every request carries all of its metadata."""

    def __init__(
        self, http: httpx.AsyncClient, capabilities: Json | None = None, path: str = "/mcp"
    ) -> None:
        super().__init__(http, {"mcp-protocol-version": NEWEST}, path)
        self.capabilities = capabilities or {}

    def message(self, method: str, params: Json | None, id: Any) -> tuple[Json, dict[str, str]]:
        given = params or {}
        meta = {
            PREFIX + "protocolVersion": NEWEST,
            PREFIX + "clientCapabilities": self.capabilities,
            **given.get("_meta", {}),
        }
        message, _ = super().message(method, {**given, "_meta": meta}, id)
        named = given.get("name") or given.get("uri")
        return message, {"mcp-method": method} | ({"mcp-name": named} if named else {})


class Event:
    """One event of a stream."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.id = fields.get("id")
        self.retry = fields.get("retry")
        self.message: Json | None = json.loads(fields["data"]) if fields.get("data") else None


async def events(response: httpx.Response) -> AsyncIterator[Event]:
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if not line and fields:
            yield Event(fields)
            fields = {}
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.strip()


async def messages(response: httpx.Response) -> list[Json]:
    """All messages of a stream that ends."""
    return [event.message async for event in events(response) if event.message is not None]


async def next_message(stream: AsyncIterator[Event]) -> Json:
    async with asyncio.timeout(PATIENCE):
        while True:
            message = (await anext(stream)).message
            if message is not None:
                return message


def called(tool: str, meta: Json | None = None, **arguments: Any) -> Json:
    return {"name": tool, "arguments": arguments} | ({"_meta": meta} if meta else {})


def text_of(message: Json) -> str:
    text: str = message["result"]["content"][0]["text"]
    return text


async def connect(
    http: httpx.AsyncClient,
    version: str = "2025-11-25",
    capabilities: Json | None = None,
    path: str = "/mcp",
) -> SessionClient:
    """Do the handshake."""
    params = {
        "protocolVersion": version,
        "capabilities": capabilities or {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    answer = await Client(http, {}, path).request("initialize", params)
    assert answer.status_code == 200, answer.text
    agreed = answer.json()["result"]["protocolVersion"]
    client = SessionClient(http, agreed, answer.headers["mcp-session-id"], path)
    assert (await client.notify("notifications/initialized")).status_code == 202
    return client


class Endpoint(Protocol):
    """An application that can be closed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    def close(self) -> None: ...


class Uvicorn(uvicorn.Server):
    """A uvicorn server that does not touch the signals of the test process."""

    capture_signals = nullcontext  # type: ignore[assignment]

    @classmethod
    def on(cls, app: App) -> "Uvicorn":
        return cls(uvicorn.Config(app, port=0, lifespan="off", ws="none", log_level="warning"))


@asynccontextmanager
async def in_process(endpoint: McpEndpoint) -> AsyncIterator[httpx.AsyncClient]:
    """Without a socket: a response arrives only when it is complete."""
    transport = httpx.ASGITransport(app=endpoint)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1", verify=NO_TLS
    ) as http:
        yield http


@asynccontextmanager
async def over_socket(endpoint: Endpoint) -> AsyncIterator[httpx.AsyncClient]:
    """Over a real connection, which can stream and break."""
    server = Uvicorn.on(endpoint)
    serving = asyncio.create_task(server.serve())
    await eventually(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, verify=NO_TLS
    ) as http:
        yield http
    endpoint.close()
    server.should_exit = True
    await serving
