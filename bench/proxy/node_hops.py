"""The way of a call across two nodes, against a bare request of nats-py."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import nats
import uvloop
from nats.aio.client import Client

from bench.processes import server
from bench.proxy.pairs import proxied
from bench.proxy.raw_sockets import Calls
from bench.rows import Row
from tests.proxy.nodes.nats_servers import nats_server

BLOCKS = 15
CALLS = 1000
"""Of one block."""
MOST_HOP = 1.0
MOST = 2.5
BODY = bytes(200)


def measure() -> Iterator[Row]:
    yield from uvloop.run(_measured())


async def _measured() -> list[Row]:
    with TemporaryDirectory() as folder:
        async with nats_server(Path(folder)) as found:
            with ExitStack() as stack:
                one, two = (
                    stack.enter_context(server("bench.proxy.proxy_node", found.url))
                    for _ in range(2)
                )
                stack.enter_context(server("bench.proxy.nats_responder", found.url))
                return await _compared(one.port, two.port, found.url)


async def _compared(one: int, two: int, url: str) -> list[Row]:
    bare = await nats.connect(url)
    calls = await proxied(two, 1, extension_port=one)
    times = [(await _across(calls), await _bare(bare)) for _ in range(BLOCKS)]
    await bare.close()
    ratio = median(own / other for own, other in times)
    own, other = (median(side) * 1000 for side in zip(*times, strict=True))
    note = f"{own:.2f} ms against {other:.2f} ms, there and back"
    return [
        Row("proxy, hop from client to extension across two nodes", own / 2, " ms", MOST_HOP),
        Row("proxy, a round trip across two nodes against nats-py", ratio, "×", MOST, note),
    ]


async def _across(calls: Calls) -> float:
    await calls.run(CALLS)
    return median(calls.seconds)


async def _bare(client: Client) -> float:
    seconds = []
    for _ in range(CALLS):
        began = time.perf_counter()
        await client.request("echo", BODY, timeout=10)
        seconds.append(time.perf_counter() - began)
    return median(seconds)
