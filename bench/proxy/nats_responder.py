"""The baseline of nodes: a program on nats-py that answers each request with what it got."""

import asyncio
import sys

import nats
import uvloop
from nats.aio.msg import Msg


async def main(url: str) -> None:
    client = await nats.connect(url)

    async def answer(message: Msg) -> None:
        await message.respond(message.data)

    await client.subscribe("echo", cb=answer)
    await client.flush()
    print(0, flush=True)
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
