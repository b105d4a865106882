"""An extension and a client of the same user, on a node of the proxy or on the bare relay."""

import asyncio
import json
import ssl
from collections.abc import Callable
from typing import Any

from bench.proxy.proxy_node import SECRET
from bench.proxy.raw_sockets import Calls, RawSocket, answer_all, frame, opened
from tabhub.proxy.identity import issue

Json = dict[str, Any]


async def relayed(port: int, pair: int) -> Calls:
    answer_all(await opened(port, f"/extension/{pair}"))
    return Calls(await opened(port, f"/client/{pair}"))


async def proxied(port: int, pair: int, extension_port: int | None = None) -> Calls:
    """Both on one node, or the extension on another."""
    token = issue(SECRET, f"user-{pair}", 3600)
    extension, id = await authenticated_extension(extension_port or port, token)
    answer_all(extension)
    client = await opened(port, "/mcp")
    await _asked(client, "mcp_handshake", {"accessToken": token})
    await _asked(client, "connect", {"extension_id": id})
    return Calls(client)


async def authenticated_extension(
    port: int, token: str, tls: ssl.SSLContext | None = None, source: str = "127.0.0.1"
) -> tuple[RawSocket, str]:
    """An extension, and the id that it got."""
    socket = await opened(port, "/extension", tls, source)
    credentials = {"name": "Chrome", "accessToken": token, "profile_id": "1"}
    answer = {"jsonrpc": "2.0", "id": "proxy:1", "result": credentials}
    confirmed = _expect(socket, lambda message: message.get("method") == "authenticated")
    socket.transport.write(frame(json.dumps(answer).encode()))
    id: str = (await confirmed)["params"]["extension_id"]
    socket.heard = lambda text: None
    return socket, id


async def _asked(socket: RawSocket, method: str, params: Json) -> Json:
    answer = _expect(socket, lambda message: message.get("id") == 1)
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    socket.transport.write(frame(json.dumps(request).encode()))
    return await answer


def _expect(socket: RawSocket, wanted: Callable[[Json], bool]) -> "asyncio.Future[Json]":
    found: asyncio.Future[Json] = asyncio.get_running_loop().create_future()

    def heard(text: bytes) -> None:
        message = json.loads(text)
        if wanted(message) and not found.done():
            found.set_result(message)

    def lost() -> None:
        if not found.done():
            found.set_exception(ConnectionResetError("the socket has closed"))

    socket.heard, socket.lost = heard, lost
    return found
