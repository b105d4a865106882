"""`1 + 1` in a real tab: through the whole product, against the minimal extension."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from statistics import median

import uvloop

from bench.browser.browser_setup import browser_setup
from bench.caller import milliseconds
from bench.rows import Row

LIMIT = 2.5
PACE_SECONDS = 0.09
BLOCKS, BLOCK = 20, 25
PACED = 60
WARM_UP = 50

Work = Callable[[], Awaitable[object]]


def measure() -> Iterator[Row]:
    yield from uvloop.run(_measure())


async def _measure() -> list[Row]:
    async with browser_setup() as ready:
        tab = await ready.agent.open(ready.site.page("form"))

        def ours() -> Awaitable[object]:
            return ready.agent.call("browser_execute_script", code="1+1", tabId=tab)

        def bare() -> Awaitable[object]:
            return ready.minimal.evaluate(tab)

        looped = [times async for times in tight(ours, bare)][WARM_UP:]
        paced = [times async for times in _paced(ours, bare)]
    return [_row("in a tight loop", looped), _row("90 ms apart", paced)]


async def tight(ours: Work, bare: Work) -> AsyncIterator[tuple[float, float]]:
    """Alternate in blocks, so that within a block only one side uses the machine."""
    for _ in range(BLOCKS):
        first = [await milliseconds(ours) for _ in range(BLOCK)]
        second = [await milliseconds(bare) for _ in range(BLOCK)]
        for pair in zip(first, second, strict=True):
            yield pair


async def _paced(ours: Work, bare: Work) -> AsyncIterator[tuple[float, float]]:
    for _ in range(PACED):
        await asyncio.sleep(PACE_SECONDS)
        first = await milliseconds(ours)
        await asyncio.sleep(PACE_SECONDS)
        yield first, await milliseconds(bare)


def _row(how: str, times: list[tuple[float, float]]) -> Row:
    ours, bare = (median(column) for column in zip(*times, strict=True))
    note = f"{ours:.2f} ms against {bare:.2f} ms"
    return Row(f"evaluate 1+1, {how}", ours / bare, "×", LIMIT, note)
