"""The baseline for echo: uvicorn with an app that decodes the body and encodes it again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import uvicorn
import uvloop

from tabhub.agents.http.listening import listen


async def echo(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    event = await receive()
    body = event["body"]
    while event["more_body"]:
        event = await receive()
        body += event["body"]
    answer = msgspec.json.encode(msgspec.json.decode(body))
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


async def main() -> None:
    listener = listen("127.0.0.1", 0)
    listener.listen()
    config = uvicorn.Config(
        echo,
        loop="none",
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )
    serving = asyncio.create_task(uvicorn.Server(config).serve(sockets=[listener]))
    print(listener.getsockname()[1], flush=True)
    await serving


if __name__ == "__main__":
    uvloop.run(main())
