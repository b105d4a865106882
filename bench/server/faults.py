"""How long a client waits for the refusal of an invalid body."""

from collections.abc import Iterator
from statistics import median

import uvloop

from bench.caller import milliseconds
from bench.eras import common_headers, posted
from bench.http_connection import HttpConnection
from bench.processes import server
from bench.rows import Row
from bench.server.echo_server import SECRET

LIMIT = 100
ROUNDS = 30
DEEP = 10_000
PATHS = ("/mcp", "/mcp/gateway", "/tools/echo/call", "/plugin-settings")
FAULTS = {
    "JSON that ends too early": b'{"jsonrpc": "2.0", "id": 1, "meth',
    "10,000 levels": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "a number of 100,000 digits": b'{"arguments": {"n": ' + b"9" * 100_000 + b"}}",
    "ten megabytes": b'{"a": "' + b"x" * (10_485_760 - 9) + b'"}',
}


def measure() -> Iterator[Row]:
    with server("bench.server.echo_server") as product:
        for name, body in FAULTS.items():
            yield uvloop.run(_slowest(name, body, product.port))


async def _slowest(name: str, body: bytes, port: int) -> Row:
    """The slowest of all endpoints."""
    times = {path: await _refusal(path, body, port) for path in PATHS}
    slowest = max(times, key=lambda path: times[path])
    return Row(f"refusing {name}", times[slowest], " ms", LIMIT, f"at {slowest}, the slowest")


async def _refusal(path: str, body: bytes, port: int) -> float:
    connection = await HttpConnection.open(port)
    headers = {**common_headers(SECRET), "accept": "application/json"}
    request = posted(path, headers, body)

    async def ask() -> None:
        try:
            await connection.ask(request)
        except RuntimeError:
            return
        raise AssertionError(f"{path} accepted an invalid body")

    times = [await milliseconds(ask) for _ in range(ROUNDS)]
    connection.close()
    return median(times)
