"""Round trips through a node, against a relay that does not read what it passes on."""

import asyncio
import time
from collections.abc import Iterator
from statistics import median

import uvloop

from bench.processes import cpu_seconds, rss_megabytes, server
from bench.proxy import figures
from bench.proxy.pairs import proxied, relayed
from bench.proxy.raw_sockets import Calls
from bench.rows import Row

BLOCKS = 15
CALLS = 2000
"""Of one block, by all clients."""
MOST = 1 / 0.7
MOST_HOP = 0.3
MESSAGES = 1_000_000
WARM_UP = 20_000
MOST_GROWTH = 2.0


def measure() -> Iterator[Row]:
    node, relay = server("bench.proxy.proxy_node"), server("bench.proxy.bare_relay")
    with node as ours, relay as bare:
        yield from uvloop.run(_compared(ours.port, bare.port, ours.pid, bare.pid))
        yield uvloop.run(_flat(ours.port, ours.pid))


async def _compared(ours: int, bare: int, our_pid: int, bare_pid: int) -> list[Row]:
    rows = []
    for count in (1, 8):
        pairs = [await proxied(ours, count * 100 + number) for number in range(count)]
        raw = [await relayed(bare, count * 100 + number) for number in range(count)]
        cpu = cpu_seconds(our_pid), cpu_seconds(bare_pid)
        times = [(await _block(pairs), await _block(raw)) for _ in range(BLOCKS)]
        used = (cpu_seconds(our_pid) - cpu[0]) / (cpu_seconds(bare_pid) - cpu[1])
        rows.append(_ratio(count, times, used))
        if count == 1:
            hop = median(pairs[0].seconds) * 1000 / 2
            rows.append(Row("proxy, hop from client to extension", hop, " ms", MOST_HOP))
    return rows


def _ratio(count: int, times: list[tuple[float, float]], cpu: float) -> Row:
    ratio = median(own / other for own, other in times)
    own, other = (CALLS / median(side) for side in zip(*times, strict=True))
    what = f"proxy, a round trip against a bare relay, {count} client{'s' * (count > 1)}"
    note = f"{own:.0f}/s against {other:.0f}/s; CPU {cpu:.2f}×"
    figures.save(**{f"round_trips_per_second_{count}": own})
    return Row(what, ratio, "×", MOST, note)


async def _block(clients: list[Calls]) -> float:
    """How long all the calls of a block take."""
    began = time.perf_counter()
    await asyncio.gather(*(client.run(CALLS // len(clients)) for client in clients))
    return time.perf_counter() - began


async def _flat(port: int, pid: int) -> Row:
    """Memory after a million messages, against before; each call is two."""
    clients = [await proxied(port, 2000 + number) for number in range(8)]
    await asyncio.gather(*(client.run(WARM_UP // len(clients)) for client in clients))
    before = rss_megabytes(pid)
    each = MESSAGES // 2 // len(clients)
    for _ in range(10):
        await asyncio.gather(*(client.run(each // 10) for client in clients))
    after = rss_megabytes(pid)
    note = f"{before:.1f} MB before, {after:.1f} MB after"
    return Row("proxy, growth over a million messages", after - before, " MB", MOST_GROWTH, note)
