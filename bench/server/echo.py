"""CPU of a call, against a bare ASGI app that only decodes and encodes the JSON."""

import asyncio
from collections.abc import Iterator
from statistics import median

import uvloop

from bench.eras import Era, Session, Sessionless, common_headers
from bench.http_connection import HttpConnection
from bench.processes import Child, cpu_seconds, server
from bench.rows import Row
from bench.server.echo_server import SECRET

LIMIT = 2.5
CONNECTIONS = (1, 32)
ROUNDS = 15
REQUESTS = 1000
WARM_UP = 300
ARGUMENTS = {"text": "The quick brown fox jumps over the lazy dog.", "times": 1}


def measure() -> Iterator[Row]:
    with server("bench.server.bare_server") as bare, server("bench.server.echo_server") as product:
        for name in ("session", "sessionless"):
            for connections in CONNECTIONS:
                yield _compare(name, connections, bare, product)


def _compare(name: str, connections: int, bare: Child, product: Child) -> Row:
    """Send the same bytes to both by turns, and take the median of the ratios."""
    turns = [_turn(name, connections, bare, product) for _ in range(ROUNDS)]
    costs, floors = zip(*turns, strict=True)
    return Row(
        f"echo, {name}, {connections} connection{'s' if connections > 1 else ''}: CPU",
        median(cost / floor for cost, floor in turns),
        "×",
        LIMIT,
        f"{median(costs):.0f} µs a request against {median(floors):.0f} µs",
    )


def _turn(name: str, connections: int, bare: Child, product: Child) -> tuple[float, float]:
    requests = uvloop.run(written(name, product.port, WARM_UP + REQUESTS))
    return cost(product, requests, connections), cost(bare, requests, connections)


def cost(child: Child, requests: list[bytes], connections: int) -> float:
    """Microseconds of the server's CPU per request."""
    uvloop.run(drive(child.port, requests[:WARM_UP], connections))
    before = cpu_seconds(child.pid)
    uvloop.run(drive(child.port, requests[WARM_UP:], connections))
    return (cpu_seconds(child.pid) - before) / REQUESTS * 1e6


async def written(name: str, port: int, number: int) -> list[bytes]:
    """Encoded echo calls, with or without a session."""
    headers = common_headers(SECRET)
    era: Era = Sessionless(headers) if name == "sessionless" else await _session(port)
    params = {"name": "echo", "arguments": ARGUMENTS}
    return [era.request("tools/call", params) for _ in range(number)]


async def _session(port: int) -> Session:
    connection = await HttpConnection.open(port)
    try:
        return await Session.begin(connection, common_headers(SECRET))
    finally:
        connection.close()


async def drive(port: int, requests: list[bytes], connections: int) -> None:
    """Send all requests; each connection sends the next once it has its response."""
    waiting = iter(requests)

    async def work(connection: HttpConnection) -> None:
        for request in waiting:
            await connection.ask(request)
        connection.close()

    opened = [await HttpConnection.open(port) for _ in range(connections)]
    await asyncio.gather(*(work(connection) for connection in opened))
