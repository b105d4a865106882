"""Memory and CPU of a node whose extensions do nothing, plain and with TLS."""

import asyncio
import ssl
import time
from collections.abc import Iterator

import uvloop

from bench.processes import cpu_seconds, rss_megabytes, server
from bench.proxy import figures
from bench.proxy.pairs import authenticated_extension
from bench.proxy.proxy_node import SECRET
from bench.proxy.raw_sockets import RawSocket
from bench.rows import Row
from tabhub.proxy.identity import issue
from tests.proxy.certificates import trusting

STEPS = (2000, 4000, 8000, 10_000)
AT_ONCE = 15
"""One address may have 20 sockets that have not authenticated."""
IDLE_SECONDS = 60
"""Three of each socket's status, two of its pings."""
MOST_MEGABYTES = {"plain": 400, "tls": 800}
MOST_CPU = 5.0
MOST_BEND = 1.10


def measure() -> Iterator[Row]:
    for kind in ("plain", "tls"):
        with server("bench.proxy.proxy_node", *(["tls"] if kind == "tls" else [])) as node:
            yield from uvloop.run(_idle(kind, node.port, node.pid))


async def _idle(kind: str, port: int, pid: int) -> list[Row]:
    tls = trusting() if kind == "tls" else None
    memory = {0: rss_megabytes(pid)}
    sockets: list[RawSocket] = []
    began = time.perf_counter()
    for step in STEPS:
        await _add(sockets, step, port, tls)
        memory[step] = rss_megabytes(pid)
    connecting = time.perf_counter() - began
    cpu = cpu_seconds(pid)
    await asyncio.sleep(IDLE_SECONDS)
    used = (cpu_seconds(pid) - cpu) / IDLE_SECONDS * 100
    most = STEPS[-1]
    each = (memory[most] - memory[0]) * 1024 / most
    name = f"proxy, {most:,} idle extensions, {kind}"
    note = f"{each:.1f} KB each; {rss_megabytes(pid):.0f} MB after a minute"
    _save(kind, memory[0], each, used, most / connecting)
    return [
        Row(f"{name}: memory", memory[most], " MB", MOST_MEGABYTES[kind], note),
        Row(f"{name}: CPU", used, "%", MOST_CPU, "of a core"),
        Row(f"{name}: connecting", connecting, " s", None, f"{most / connecting:.0f}/s"),
        _bend(kind, memory),
    ]


def _save(kind: str, empty: float, each: float, cpu: float, connects: float) -> None:
    figures.save(
        **{
            f"{kind}_empty_megabytes": empty,
            f"{kind}_kilobytes_each": each,
            f"{kind}_cpu_percent": cpu,
            f"{kind}_connects_per_second": connects,
        }
    )


def _bend(kind: str, memory: dict[int, float]) -> Row:
    """How much more a socket of the last four thousand costs than one of the two before."""
    first = (memory[4000] - memory[2000]) / 2000
    last = (memory[8000] - memory[4000]) / 4000
    shown = ", ".join(f"{count:,}: {size:.0f} MB" for count, size in memory.items())
    return Row(f"proxy, memory by sockets, {kind}", last / first, "×", MOST_BEND, shown)


async def _add(sockets: list[RawSocket], until: int, port: int, tls: ssl.SSLContext | None) -> None:
    """Connect extensions, each of a user of its own, until there are so many."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with turns:
            token = issue(SECRET, f"user-{number}", 24 * 3600)
            sockets.append((await authenticated_extension(port, token, tls))[0])

    await asyncio.gather(*(one(number) for number in range(len(sockets), until)))
