"""GET: writes a session's stream to a connection for as long as both are there."""

import asyncio

from tabhub.agents.mcp.reply import Reply
from tabhub.agents.mcp.streams import EventStream
from tabhub.wire.asgi import Receive


async def follow(stream: EventStream, position: int, reply: Reply, receive: Receive) -> None:
    """Write a stream's events as they come, until it ends or the client goes."""
    reader = stream.attach(position)
    gone = asyncio.create_task(_wait_gone(receive, reader.wake))
    try:
        await reply.stream()
        while not gone.done():
            reader.wake.clear()
            for frame in stream.take(reader):
                await reply.frame(frame)
            if stream.done and not reader.wake.is_set():
                break
            await reply.keep_alive(reader.wake.wait)
    finally:
        stream.detach(reader)
        gone.cancel()
    await reply.end()


async def _wait_gone(receive: Receive, wake: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    wake.set()
