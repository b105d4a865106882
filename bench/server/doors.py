"""What a call costs by the gateway and by REST, against the same call straight to `/mcp`."""

from collections.abc import Iterator
from statistics import median

import uvloop

from bench.eras import GATEWAY, Era, Rest, Session, Sessionless, common_headers
from bench.line import Line
from bench.processes import Child, server
from bench.rows import Row
from bench.server.echo import ARGUMENTS, CONNECTIONS, REQUESTS, ROUNDS, WARM_UP, cost
from bench.server.echo_server import SECRET

LIMIT = 1.3
ECHO = {"name": "echo", "arguments": ARGUMENTS}
BEHIND = {"name": "tabhub_call", "arguments": ECHO}
PAIRS = {
    "gateway, session": ("session", "gateway session"),
    "gateway, sessionless": ("sessionless", "gateway sessionless"),
    "REST": ("sessionless", "rest"),
}
"""What is compared: the direct way of the same kind, and the other one."""


def measure() -> Iterator[Row]:
    with server("bench.server.echo_server") as product:
        for name, ways in PAIRS.items():
            for connections in CONNECTIONS:
                yield _compare(name, ways, connections, product)


def _compare(name: str, ways: tuple[str, str], connections: int, product: Child) -> Row:
    turns = [[_cost(way, product, connections) for way in ways] for _ in range(ROUNDS)]
    direct, other = (median(column) for column in zip(*turns, strict=True))
    return Row(
        f"{name}, {connections} connection{'s' if connections > 1 else ''}: CPU",
        median(costly / plain for plain, costly in turns),
        "×",
        LIMIT,
        f"{other:.0f} µs a call against {direct:.0f} µs straight to /mcp",
    )


def _cost(way: str, product: Child, connections: int) -> float:
    return cost(product, uvloop.run(_written(way, product.port)), connections)


async def _written(way: str, port: int) -> list[bytes]:
    era, params = await _era(way, port), BEHIND if way.startswith("gateway") else ECHO
    return [era.request("tools/call", params) for _ in range(WARM_UP + REQUESTS)]


async def _era(way: str, port: int) -> Era:
    headers = common_headers(SECRET)
    path = (GATEWAY,) if way.startswith("gateway") else ()
    if way == "rest":
        return Rest(headers | {"accept": "application/json"})
    if way.endswith("sessionless"):
        return Sessionless(headers, *path)
    line = await Line.open(port)
    try:
        return await Session.begin(line, headers, *path)
    finally:
        line.close()
