"""Latency and memory while another client sends large requests that are refused."""

import asyncio
import sys
from collections.abc import Iterator
from statistics import median, quantiles

import uvloop

from bench.caller import Caller, milliseconds
from bench.http_connection import HttpConnection
from bench.processes import Child, busy_client, peak_megabytes, rss_megabytes, server
from bench.rows import Row
from bench.server.echo_server import PAUSE, SECRET

LIMIT = 2.0
MOST_MEGABYTES = 200.0
ROUNDS = 5
CALLS = 40
CLIENTS = 8
NAMES = 500_000


def measure() -> Iterator[Row]:
    with server("bench.server.echo_server") as product:
        idle = rss_megabytes(product.pid)
        turns = [(_latencies(product), _flooded(product)) for _ in range(ROUNDS)]
        peak = peak_megabytes(product.pid) - idle
        more = rss_megabytes(product.pid) - idle
    alone, busy = (median(_high(turn[side]) for turn in turns) for side in (0, 1))
    note = f"{busy:.0f} ms against {alone:.0f} ms without"
    yield Row("a call of 40 ms in a flood of refusals: 95th of 100", busy / alone, "×", LIMIT, note)
    yield Row("memory during the refused calls", peak, " MB", MOST_MEGABYTES, "at its peak")
    yield Row("memory after the refused calls", more, " MB", MOST_MEGABYTES, f"idle {idle:.0f} MB")


def _flooded(product: Child) -> list[float]:
    with busy_client("bench.server.flood", product.port):
        return _latencies(product)


def _latencies(product: Child) -> list[float]:
    return uvloop.run(_timed(product.port))


async def _timed(port: int) -> list[float]:
    callers = [await Caller.begin(port, SECRET) for _ in range(CLIENTS)]

    async def several(caller: Caller) -> list[float]:
        return [await milliseconds(lambda: caller.call(PAUSE.name, text="x")) for _ in range(CALLS)]

    return [time for times in await asyncio.gather(*map(several, callers)) for time in times]


def _high(latencies: list[float]) -> float:
    return quantiles(latencies, n=100)[94]


async def _send(port: int) -> None:
    names = ",".join(f'"x{number}":1' for number in range(NAMES))
    body = f'{{"arguments":{{{names}}}}}'.encode()
    head = (
        "POST /tools/echo/call HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"authorization: Bearer {SECRET}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    print("sending", flush=True)
    connection = await HttpConnection.open(port)
    while True:
        try:
            await connection.ask(head.encode() + body)
        except RuntimeError:  # it is refused
            continue


if __name__ == "__main__":
    uvloop.run(_send(int(sys.argv[1])))
