"""The comparison: the median of each operation and server, and tabhub against the best peer."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from statistics import median

import uvloop

from bench.browser.pages import item_page, large_page
from bench.caller import milliseconds
from bench.peers.all_servers import all_servers
from bench.peers.compared_server import CannotDo, ComparedServer, Spot
from tests.support.site import Site

PACE_SECONDS = 0.09
TERMS = Spot("checkbox", "I agree", "[name=terms]")
MAIL = Spot("textbox", "Email", "#mail")
GO = Spot("button", "Go", "#go")
KILOBYTE = 1024

Operation = Callable[[ComparedServer], Awaitable[int]]


@dataclass(frozen=True)
class Pace:
    """How many rounds and calls per block, and the pause between calls."""

    name: str
    rounds: int
    block: int
    seconds: float


TIGHT = Pace("in a tight loop", 5, 5, 0.0)
CALM = Pace("90 ms apart", 4, 4, PACE_SECONDS)


@dataclass
class ComparedOperation:
    """One operation of all servers, the target for tabhub in ms, and the measured times."""

    name: str
    operation: Operation
    aim: float | None = None
    spot: Spot | None = None
    after: Callable[[ComparedServer], Awaitable[None]] | None = None
    has_size: bool = False
    times: dict[str, list[float]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    async def run(self, servers: Sequence[ComparedServer], pace: Pace) -> None:
        able = [server for server in servers if await self._prepared(server)]
        for _ in range(pace.rounds):
            for server in able:
                await self._block(server, pace)

    async def _prepared(self, server: ComparedServer) -> bool:
        """Do it once, to warm up and to see whether this server can do it."""
        try:
            if self.spot is not None:
                await server.prepare(self.spot)
            self.sizes[server.name] = await self.operation(server)
        except CannotDo:
            return False
        await self._clean_up(server)
        self.times[server.name] = []
        return True

    async def _block(self, server: ComparedServer, pace: Pace) -> None:
        for _ in range(pace.block):
            await asyncio.sleep(pace.seconds)
            self.times[server.name].append(await milliseconds(lambda: self.operation(server)))
            await self._clean_up(server)

    async def _clean_up(self, server: ComparedServer) -> None:
        if self.after is not None:
            await self.after(server)


def measure() -> Iterator[str]:
    """Markdown: a table for each pace, and one for sizes."""
    yield from uvloop.run(_measure())


async def _measure() -> list[str]:
    async with all_servers() as (site, servers):
        tables = []
        for pace in (TIGHT, CALM):
            operations = await _run_all(site, servers, pace)
            tables.append(_times(pace, operations, servers))
            print(f"\n{tables[-1]}\n", flush=True)
        return [*tables, _sizes(operations, servers)]


async def _run_all(
    site: Site, servers: Sequence[ComparedServer], pace: Pace
) -> list[ComparedOperation]:
    done = []
    for url, operations in _operations(site):
        await asyncio.gather(*(server.visit(url) for server in servers))
        for operation in operations:
            await operation.run(servers, pace)
            print(f"{operation.name}, {pace.name}", flush=True)
            done.append(operation)
    return done


def _operations(site: Site) -> list[tuple[str, list[ComparedOperation]]]:
    words = cycle(["Ada", "Grace", "Edsger"])
    pages = cycle([site.page("targets"), site.page("form")])

    def snapshot(what: str, aim: float) -> ComparedOperation:
        return ComparedOperation(f"snapshot, {what}", lambda c: c.snapshot(), aim, has_size=True)

    def click(what: str, spot: Spot, aim: float) -> ComparedOperation:
        return ComparedOperation(what, lambda c: c.click(spot), aim, spot)

    form = [
        ComparedOperation("evaluate 1+1", lambda c: c.evaluate(), 2.5),
        click("click", TERMS, 12),
        ComparedOperation("fill a field", lambda c: c.fill(MAIL, next(words)), 6, MAIL),
        snapshot("small form", 5),
        ComparedOperation("screenshot", lambda c: c.screenshot(), 50),
        ComparedOperation("list tabs", lambda c: c.list_tabs(), 2),
        ComparedOperation("tools/list", lambda c: c.list_tools(), 1.5, has_size=True),
        ComparedOperation("open tab", lambda c: c.open_tab(site.page("form")), 110, after=_close),
        ComparedOperation("navigate", lambda c: c.visit(next(pages)), 130),
    ]
    large = [click("click, 5,000 nodes", GO, 15), snapshot("5,000 nodes", 35)]
    return [
        (site.page("form"), form),
        (item_page(site), [snapshot("500 items", 15)]),
        (large_page(site), large),
    ]


async def _close(server: ComparedServer) -> None:
    await server.close_tab()


def _times(
    pace: Pace, operations: Sequence[ComparedOperation], servers: Sequence[ComparedServer]
) -> str:
    head = [f"ms, {pace.name}", *(server.name for server in servers), "÷ best peer", "aim"]
    rows = [_time_row(operation, servers) for operation in operations]
    return _table(head, rows)


def _time_row(operation: ComparedOperation, servers: Sequence[ComparedServer]) -> list[str]:
    medians = {name: median(times) for name, times in operation.times.items()}
    ratio = _ratio(medians, servers)
    aim = "" if operation.aim is None else f"{operation.aim:g}"
    return [
        operation.name,
        *(_number(medians.get(server.name)) for server in servers),
        ratio,
        aim,
    ]


def _sizes(operations: Sequence[ComparedOperation], servers: Sequence[ComparedServer]) -> str:
    head = ["KB that an agent reads", *(server.name for server in servers), "÷ best peer"]
    rows = []
    for operation in (operation for operation in operations if operation.has_size):
        sizes = {name: size / KILOBYTE for name, size in operation.sizes.items()}
        cells = [_number(sizes.get(server.name)) for server in servers]
        rows.append([operation.name, *cells, _ratio(sizes, servers)])
    return _table(head, rows)


def _ratio(figures: dict[str, float], servers: Sequence[ComparedServer]) -> str:
    peers = [
        figures[server.name] for server in servers if server.is_peer and server.name in figures
    ]
    ours = next(server.name for server in servers if not server.is_peer)
    return f"{figures[ours] / min(peers):.2f}×" if peers else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
