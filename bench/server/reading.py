"""Latency of a call while another client reads the audit log, against without."""

from collections.abc import Iterator
from statistics import median, quantiles

import uvloop

from bench.caller import Caller, milliseconds
from bench.processes import Child, busy_client, server
from bench.rows import Row
from bench.server.echo import ARGUMENTS
from bench.server.echo_server import SECRET

LIMIT = 3.0
"""A reader without pauses uses half of the server, so a call has to wait for it."""
KEPT = 500
ROUNDS = 10
CALLS = 300
LONG = {**ARGUMENTS, "text": "All of it is in the record. " * 20}


def measure() -> Iterator[Row]:
    with server("bench.server.echo_server") as product:
        turns = [(_latencies(product), _with_reader(product)) for _ in range(ROUNDS)]
    for name, of in (("median", median), ("99th of 100", _high)):
        alone, busy = (median(of(turn[side]) for turn in turns) for side in (0, 1))
        yield Row(
            f"echo with a busy reader of /audit: {name}",
            busy / alone,
            "×",
            LIMIT,
            f"{busy:.2f} ms against {alone:.2f} ms without",
        )


def _with_reader(product: Child) -> list[float]:
    with busy_client("bench.server.audit_reader", product.port):
        return _latencies(product)


def _latencies(product: Child) -> list[float]:
    return uvloop.run(_timed(product.port))


async def _timed(port: int) -> list[float]:
    caller = await Caller.begin(port, SECRET)
    for _ in range(KEPT // ROUNDS):
        await caller.call("echo", **LONG)
    return [await milliseconds(lambda: caller.call("echo", **LONG)) for _ in range(CALLS)]


def _high(latencies: list[float]) -> float:
    return quantiles(latencies, n=100)[98]
