"""The comparison: the median of each operation and server, and tabhub against the best peer."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from statistics import median

import uvloop

from bench.browser.pages import item_page, large_page
from bench.caller import milliseconds
from bench.peers.contender import CannotDo, Contender, Spot
from bench.peers.field import field as all_contenders
from tests.support.site import Site

PACE_SECONDS = 0.09
TERMS = Spot("checkbox", "I agree", "[name=terms]")
MAIL = Spot("textbox", "Email", "#mail")
GO = Spot("button", "Go", "#go")
KILOBYTE = 1024

Operation = Callable[[Contender], Awaitable[int]]


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
class Contest:
    """One operation of all servers, the target for tabhub in ms, and the measured times."""

    name: str
    operation: Operation
    aim: float | None = None
    spot: Spot | None = None
    after: Callable[[Contender], Awaitable[None]] | None = None
    has_size: bool = False
    times: dict[str, list[float]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    async def hold(self, contenders: Sequence[Contender], pace: Pace) -> None:
        able = [contender for contender in contenders if await self._prepared(contender)]
        for _ in range(pace.rounds):
            for contender in able:
                await self._block(contender, pace)

    async def _prepared(self, contender: Contender) -> bool:
        """Do it once, to warm up and to see whether this server can do it."""
        try:
            if self.spot is not None:
                await contender.prepare(self.spot)
            self.sizes[contender.name] = await self.operation(contender)
        except CannotDo:
            return False
        await self._clean_up(contender)
        self.times[contender.name] = []
        return True

    async def _block(self, contender: Contender, pace: Pace) -> None:
        for _ in range(pace.block):
            await asyncio.sleep(pace.seconds)
            self.times[contender.name].append(await milliseconds(lambda: self.operation(contender)))
            await self._clean_up(contender)

    async def _clean_up(self, contender: Contender) -> None:
        if self.after is not None:
            await self.after(contender)


def measure() -> Iterator[str]:
    """Markdown: a table for each pace, and one for sizes."""
    yield from uvloop.run(_measure())


async def _measure() -> list[str]:
    async with all_contenders() as (site, contenders):
        tables = []
        for pace in (TIGHT, CALM):
            contests = await _hold_all(site, contenders, pace)
            tables.append(_times(pace, contests, contenders))
            print(f"\n{tables[-1]}\n", flush=True)
        return [*tables, _sizes(contests, contenders)]


async def _hold_all(site: Site, contenders: Sequence[Contender], pace: Pace) -> list[Contest]:
    held = []
    for url, contests in _programme(site):
        await asyncio.gather(*(contender.visit(url) for contender in contenders))
        for contest in contests:
            await contest.hold(contenders, pace)
            print(f"{contest.name}, {pace.name}", flush=True)
            held.append(contest)
    return held


def _programme(site: Site) -> list[tuple[str, list[Contest]]]:
    words = cycle(["Ada", "Grace", "Edsger"])
    pages = cycle([site.page("targets"), site.page("form")])

    def snapshot(what: str, aim: float) -> Contest:
        return Contest(f"snapshot, {what}", lambda c: c.snapshot(), aim, has_size=True)

    def click(what: str, spot: Spot, aim: float) -> Contest:
        return Contest(what, lambda c: c.click(spot), aim, spot)

    form = [
        Contest("evaluate 1+1", lambda c: c.evaluate(), 2.5),
        click("click", TERMS, 12),
        Contest("fill a field", lambda c: c.fill(MAIL, next(words)), 6, MAIL),
        snapshot("small form", 5),
        Contest("screenshot", lambda c: c.screenshot(), 50),
        Contest("list tabs", lambda c: c.list_tabs(), 2),
        Contest("tools/list", lambda c: c.list_tools(), 1.5, has_size=True),
        Contest("open tab", lambda c: c.open_tab(site.page("form")), 110, after=_close),
        Contest("navigate", lambda c: c.visit(next(pages)), 130),
    ]
    large = [click("click, 5,000 nodes", GO, 15), snapshot("5,000 nodes", 35)]
    return [
        (site.page("form"), form),
        (item_page(site), [snapshot("500 items", 15)]),
        (large_page(site), large),
    ]


async def _close(contender: Contender) -> None:
    await contender.close_tab()


def _times(pace: Pace, contests: Sequence[Contest], contenders: Sequence[Contender]) -> str:
    head = [f"ms, {pace.name}", *(contender.name for contender in contenders), "÷ best peer", "aim"]
    rows = [_time_row(contest, contenders) for contest in contests]
    return _table(head, rows)


def _time_row(contest: Contest, contenders: Sequence[Contender]) -> list[str]:
    medians = {name: median(times) for name, times in contest.times.items()}
    ratio = _ratio(medians, contenders)
    aim = "" if contest.aim is None else f"{contest.aim:g}"
    return [
        contest.name,
        *(_number(medians.get(contender.name)) for contender in contenders),
        ratio,
        aim,
    ]


def _sizes(contests: Sequence[Contest], contenders: Sequence[Contender]) -> str:
    head = ["KB that an agent reads", *(contender.name for contender in contenders), "÷ best peer"]
    rows = []
    for contest in (contest for contest in contests if contest.has_size):
        sizes = {name: size / KILOBYTE for name, size in contest.sizes.items()}
        cells = [_number(sizes.get(contender.name)) for contender in contenders]
        rows.append([contest.name, *cells, _ratio(sizes, contenders)])
    return _table(head, rows)


def _ratio(figures: dict[str, float], contenders: Sequence[Contender]) -> str:
    peers = [
        figures[contender.name]
        for contender in contenders
        if contender.is_peer and contender.name in figures
    ]
    ours = next(contender.name for contender in contenders if not contender.is_peer)
    return f"{figures[ours] / min(peers):.2f}×" if peers else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
