"""CPU of a call by the gateway and by REST, against the same call to `/mcp`."""

from collections.abc import Iterator
from statistics import median

import uvloop

from bench.eras import GATEWAY, Era, Rest, Session, Sessionless, common_headers
from bench.http_connection import HttpConnection
from bench.processes import Child, server
from bench.rows import Row
from bench.server.echo import ARGUMENTS, CONNECTIONS, REQUESTS, ROUNDS, WARM_UP, cost
from bench.server.echo_server import SECRET

LIMIT = 1.3
ECHO = {"name": "echo", "arguments": ARGUMENTS}
BY_GATEWAY = {"name": "tabhub_call", "arguments": ECHO}
PAIRS = {
    "gateway, session": ("session", "gateway session"),
    "gateway, sessionless": ("sessionless", "gateway sessionless"),
    "REST": ("sessionless", "rest"),
}
"""The compared calls: one to `/mcp` of the same kind, and the other one."""


def measure() -> Iterator[Row]:
    with server("bench.server.echo_server") as product:
        for name, kinds in PAIRS.items():
            for connections in CONNECTIONS:
                yield _compare(name, kinds, connections, product)


def _compare(name: str, kinds: tuple[str, str], connections: int, product: Child) -> Row:
    turns = [[_cost(kind, product, connections) for kind in kinds] for _ in range(ROUNDS)]
    direct, other = (median(column) for column in zip(*turns, strict=True))
    return Row(
        f"{name}, {connections} connection{'s' if connections > 1 else ''}: CPU",
        median(costly / plain for plain, costly in turns),
        "×",
        LIMIT,
        f"{other:.0f} µs a call against {direct:.0f} µs by /mcp",
    )


def _cost(kind: str, product: Child, connections: int) -> float:
    return cost(product, uvloop.run(_written(kind, product.port)), connections)


async def _written(kind: str, port: int) -> list[bytes]:
    era, params = await _era(kind, port), BY_GATEWAY if kind.startswith("gateway") else ECHO
    return [era.request("tools/call", params) for _ in range(WARM_UP + REQUESTS)]


async def _era(kind: str, port: int) -> Era:
    headers = common_headers(SECRET)
    path = (GATEWAY,) if kind.startswith("gateway") else ()
    if kind == "rest":
        return Rest(headers | {"accept": "application/json"})
    if kind.endswith("sessionless"):
        return Sessionless(headers, *path)
    connection = await HttpConnection.open(port)
    try:
        return await Session.begin(connection, headers, *path)
    finally:
        connection.close()
