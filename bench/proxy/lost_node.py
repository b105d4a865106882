"""A node is killed, and its extensions come to another one: how long until all are there again."""

import asyncio
import os
import random
import signal
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop

from bench.processes import server
from bench.proxy.pairs import authenticated_extension
from bench.proxy.proxy_node import SECRET
from bench.rows import Row
from tabhub.proxy.identity import issue
from tests.proxy.certificates import trusting
from tests.proxy.nodes.nats_servers import nats_server

SOCKETS = 5000
OF_ADDRESS = 10
"""Extensions behind one address; a node lets 20 in at once that have not authenticated."""
AT_ONCE = 100
MOST_SECONDS = 60.0
SHORTEST, LONGEST = 1.0, 60.0
"""The pauses of the extension grow between these, and each is a random part of them."""


class Extension:
    """Connects, and connects again as the real one does."""

    def __init__(self, number: int, ports: tuple[int, int], tls: ssl.SSLContext | None) -> None:
        self._token = issue(SECRET, f"user-{number}", 24 * 3600)
        address = number // OF_ADDRESS
        self._source = f"127.1.{address // 250}.{address % 250 + 1}"
        self._ports = ports
        self._tls = tls
        self._tries = 0

    async def connect(self) -> "asyncio.Future[None]":
        """Connect; the result is done when the socket has closed."""
        port = self._ports[self._tries % len(self._ports)]
        socket, _ = await authenticated_extension(port, self._token, self._tls, self._source)
        self._tries = 0
        closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        socket.lost = lambda: closed.set_result(None)
        return closed

    async def come_back(self) -> None:
        while True:
            limit = min(LONGEST, SHORTEST * 2**self._tries)
            await asyncio.sleep(random.uniform(0, limit))
            self._tries += 1
            try:
                await self.connect()
                return
            except OSError:
                continue


def measure() -> Iterator[Row]:
    for kind in ("plain", "tls"):
        yield uvloop.run(_measured(kind))


async def _measured(kind: str) -> Row:
    given = ["tls"] if kind == "tls" else []
    with TemporaryDirectory() as folder:
        async with nats_server(Path(folder)) as found:
            with ExitStack() as stack:
                one, two = (
                    stack.enter_context(server("bench.proxy.proxy_node", found.url, *given))
                    for _ in range(2)
                )
                seconds = await _back(one.pid, (one.port, two.port), kind)
    name = f"proxy, {SOCKETS:,} extensions of a killed node back on another, {kind}"
    return Row(name, seconds, " s", MOST_SECONDS)


async def _back(pid: int, ports: tuple[int, int], kind: str) -> float:
    tls = trusting() if kind == "tls" else None
    extensions = [Extension(number, ports, tls) for number in range(SOCKETS)]
    turns = asyncio.Semaphore(AT_ONCE)

    async def connected(extension: Extension) -> "asyncio.Future[None]":
        async with turns:
            return await extension.connect()

    lost = await asyncio.gather(*map(connected, extensions))
    began = time.perf_counter()
    os.kill(pid, signal.SIGKILL)

    async def returned(extension: Extension, closed: "asyncio.Future[None]") -> None:
        await closed
        await extension.come_back()

    await asyncio.gather(*map(returned, extensions, lost))
    return time.perf_counter() - began
