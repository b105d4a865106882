"""The baseline: uvicorn with an app that passes frames on between pairs of sockets, unread."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn
import uvloop

from tabhub.agents.http.listening import listen

Send = Callable[[dict[str, Any]], Awaitable[None]]
OTHER = {"extension": "client", "client": "extension"}
sockets: dict[tuple[str, str], Send] = {}


async def relay(
    scope: dict[str, Any], receive: Callable[[], Awaitable[dict[str, Any]]], send: Send
) -> None:
    """Serve /extension/N or /client/N; both with the same N are a pair."""
    _, side, pair = scope["path"].split("/")
    sockets[side, pair] = send
    other = (OTHER[side], pair)
    await receive()
    await send({"type": "websocket.accept"})
    while (event := await receive())["type"] == "websocket.receive":
        await sockets[other]({"type": "websocket.send", "text": event["text"]})


async def main() -> None:
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        relay,
        loop="none",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        access_log=False,
    )
    serving = asyncio.create_task(uvicorn.Server(config).serve(sockets=[listener]))
    print(listener.getsockname()[1], flush=True)
    await serving


if __name__ == "__main__":
    uvloop.run(main())
