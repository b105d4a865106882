"""A double of the server: keeps the extension's messages and sends those of a test."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from tabhub.config.secret import prove
from tabhub.wire import link_versions as versions
from tests.support.eventually import PATIENCE, eventually

SECRET = "5" * 64
Message = dict[str, Any]
GREETING: Message = {
    "protocol": versions.SERVER.protocol,
    "server": {"name": "tabhub", "version": versions.SERVER.version},
    "maxBytes": 10_000_000,
    "plugins": [],
}


class ScriptedServer:
    """The messages of one browser, in order; the socket is the latest that it opened."""

    def __init__(self, greeting: Message | None = None) -> None:
        self.greeting = greeting or GREETING
        self.port = 0
        self.offered = ""
        """The subprotocols of the newest socket."""
        self.received: list[Message] = []
        self.connections = 0
        self.refuses_with: int | None = None
        """The code with which it closes every new socket."""
        self._socket: ServerConnection | None = None
        self._arrivals = asyncio.Condition()
        self._ids = count(1)

    async def attend(self, socket: ServerConnection) -> None:
        self._socket = socket
        self.offered = socket.request.headers["Sec-WebSocket-Protocol"] if socket.request else ""
        self.connections += 1
        await self.notify("sync.full", self.greeting)
        if self.refuses_with is not None:
            await socket.close(self.refuses_with)
        with suppress(ConnectionClosed):
            while True:
                await self._take(json.loads(await socket.recv()))

    async def _take(self, message: Message) -> None:
        async with self._arrivals:
            self.received.append(message)
            self._arrivals.notify_all()

    async def notify(self, method: str, params: Any) -> None:
        await self._send({"method": method, "params": params})

    async def _send(self, message: Message) -> None:
        assert self._socket is not None
        await self._socket.send(json.dumps({"jsonrpc": "2.0", **message}))

    async def respond(self, id: object, result: Any = None) -> None:
        """Answer a request of the extension."""
        await self._send({"id": id, "result": result or {}})

    async def hang_up(self, code: int = 1000) -> None:
        assert self._socket is not None
        await self._socket.close(code)

    async def connected(self) -> None:
        """Wait for the first socket."""
        await eventually(lambda: self._socket is not None)

    async def closed(self) -> int | None:
        """Wait until the browser closes the connection; return its code."""
        assert self._socket is not None
        await asyncio.wait_for(self._socket.wait_closed(), PATIENCE)
        return self._socket.close_code

    async def until(self, condition: Callable[[Message], Any], start: int = 0) -> Message:
        """The first message that meets the condition, from number `start` on."""

        def found() -> Message | None:
            return next((message for message in self.received[start:] if condition(message)), None)

        async with self._arrivals:
            await asyncio.wait_for(self._arrivals.wait_for(found), PATIENCE)
            message = found()
            assert message is not None
            return message

    async def params_of(
        self, method: str, start: int = 0, with_tool: str = "", **params: Any
    ) -> dict[str, Any]:
        """The params of the first such message."""

        def fits(message: Message) -> bool:
            fields = message.get("params", {})
            named = not with_tool or with_tool in names(fields)
            same = all(fields.get(key) == value for key, value in params.items())
            return message.get("method") == method and same and named

        fields: dict[str, Any] = (await self.until(fits, start))["params"]
        return fields

    async def ask(self, method: str, **params: Any) -> Message:
        """Send a request; return the response, which has `result` or `error`."""
        id = await self.begin(method, **params)
        return await self.answer(id)

    async def begin(self, method: str, **params: Any) -> str:
        id = f"ask-{next(self._ids)}"
        await self._send({"id": id, "method": method, "params": params})
        return id

    async def answer(self, id: str) -> Message:
        return await self.until(lambda message: message.get("id") == id and "method" not in message)

    async def begin_call(self, page: dict[str, Any], tool: str, **arguments: Any) -> str:
        where = {key: page[key] for key in ("tabId", "frameId", "documentId")}
        call = {"toolName": tool, "args": arguments, "callId": f"call-{next(self._ids)}"}
        return await self.begin("browser/executeTool", **where, **call)

    async def call(self, page: dict[str, Any], tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a page tool; return its `success` and `payload`."""
        answer = await self.answer(await self.begin_call(page, tool, **arguments))
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    async def refusal(self, page: dict[str, Any], tool: str, **arguments: Any) -> str:
        """Call a page tool that must be refused; return the reason."""
        answer = await self.answer(await self.begin_call(page, tool, **arguments))
        assert "error" in answer, answer
        reason: str = answer["error"]["data"]["reason"]
        return reason


def names(page: dict[str, Any]) -> list[str]:
    return [tool.get("name", "") for tool in page.get("tools", [])]


def _prove(socket: ServerConnection, request: Request) -> Response | None:
    """Prove to the extension, before it connects, that the server knows the secret."""
    _, _, challenge = request.path.partition("/health?challenge=")
    if not challenge:
        return None
    proof = prove(SECRET, challenge, socket.local_address[1])
    body = json.dumps({"status": "ok", "proof": proof}).encode()
    return Response(200, "OK", Headers({"Content-Length": str(len(body))}), body)


def _subprotocol(socket: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol:
    return offered[0]


@asynccontextmanager
async def scripted(double: ScriptedServer | None = None) -> AsyncIterator[ScriptedServer]:
    double = double or ScriptedServer()
    async with serve(
        double.attend,
        "127.0.0.1",
        0,
        select_subprotocol=_subprotocol,
        process_request=_prove,
        max_size=None,
    ) as server:
        double.port = next(iter(server.sockets)).getsockname()[1]
        yield double
