"""Memory with 200 agents at once, each with a session, an open stream and calls."""

import asyncio
from collections.abc import Iterator
from statistics import median

import uvloop

from bench.eras import Session, common_headers
from bench.http_connection import HttpConnection
from bench.processes import Child, rss_megabytes, server
from bench.rows import Row
from bench.server.echo import ARGUMENTS
from bench.server.echo_server import SECRET

SESSIONS = 200
WARM_UP = 20
ROUNDS = 100
LIMIT = 1.1
EACH_KB = 100


def measure() -> Iterator[Row]:
    with server("bench.server.echo_server") as product:
        yield from uvloop.run(_measure(product))


async def _measure(product: Child) -> list[Row]:
    empty = rss_megabytes(product.pid)
    agents = [await _Agent.begin(product.port) for _ in range(SESSIONS)]
    await _rounds(agents, WARM_UP)
    before = rss_megabytes(product.pid)
    held = [await _rounds(agents, ROUNDS // 5, product) for _ in range(5)]
    after = median(held[-2:])
    calls = SESSIONS * ROUNDS
    for agent in agents:
        agent.close()
    return [
        Row(
            f"{SESSIONS} sessions: memory after {calls:,} more calls",
            after / before,
            "×",
            LIMIT,
            f"{before:.1f} MB, then {after:.1f} MB",
        ),
        Row(
            f"{SESSIONS} sessions: memory each",
            (before - empty) * 1024 / SESSIONS,
            " KB",
            EACH_KB,
            "with an open stream and two connections",
        ),
    ]


class _Agent:
    """A session, its connection for calls, and its connection for the stream."""

    def __init__(self, calls: HttpConnection, stream: HttpConnection, session: Session) -> None:
        self._calls = calls
        self._stream = stream
        self._session = session

    @classmethod
    async def begin(cls, port: int) -> "_Agent":
        calls, stream = await HttpConnection.open(port), await HttpConnection.open(port)
        session = await Session.begin(calls, common_headers(SECRET))
        stream.send(session.stream())
        return cls(calls, stream, session)

    async def call(self) -> None:
        params = {"name": "echo", "arguments": ARGUMENTS}
        await self._calls.ask(self._session.request("tools/call", params))

    def close(self) -> None:
        self._calls.close()
        self._stream.close()


async def _rounds(agents: list[_Agent], number: int, product: Child | None = None) -> float:
    """Let every agent make `number` calls, all at once; return the memory afterwards."""
    for _ in range(number):
        await asyncio.gather(*(agent.call() for agent in agents))
    return 0 if product is None else rss_megabytes(product.pid)
