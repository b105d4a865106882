"""A tool of a real page: through the whole product, against the minimal extension."""

from collections.abc import Awaitable, Iterator
from statistics import median

import uvloop

from bench.browser.browser_setup import BrowserSetup, browser_setup
from bench.browser.evaluate import BLOCK, BLOCKS, WARM_UP, tight
from bench.caller import milliseconds
from bench.rows import Row
from tests.support.browsers.page_tools import tool_name

FLOORS = 2
MILLISECONDS = 20


def measure() -> Iterator[Row]:
    yield from uvloop.run(_measure())


async def _measure() -> list[Row]:
    async with browser_setup() as ready:
        tab = await ready.agent.open(ready.site.page("tools"))
        name = tool_name(ready.site.url, "double")
        await _listed(ready, name)

        def ours() -> Awaitable[object]:
            return ready.agent.call(name, a=21)

        def bare() -> Awaitable[object]:
            return ready.minimal.ask("port", tab=tab, tool="double", input={"a": 21})

        def empty() -> Awaitable[object]:
            return ready.minimal.ask("port", tab=tab, input=21)

        times = [pair async for pair in tight(ours, bare)][WARM_UP:]
        empty_times = [await milliseconds(empty) for _ in range(BLOCK * BLOCKS)]
    call, floor = (median(column) for column in zip(*times, strict=True))
    note = f"{call:.2f} ms against {floor:.2f} ms; a message to the page and back takes "
    note += f"{median(empty_times):.2f} ms"
    return [
        Row("a tool of a page, against a bare port", call / floor, "×", FLOORS, note),
        Row("a tool of a page", call, " ms", MILLISECONDS),
    ]


async def _listed(ready: BrowserSetup, name: str) -> None:
    """Wait until the page has published its tools, which takes some milliseconds."""
    while name not in str(await ready.agent.request("tools/list", {})):
        pass
