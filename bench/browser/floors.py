"""The usual operations on a static page, against the same by the minimal extension."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from statistics import median

import uvloop

from bench.browser.browser_setup import BrowserSetup, browser_setup
from bench.browser.pages import large_page
from bench.caller import milliseconds
from bench.rows import Row

BLOCKS, BLOCK = 6, 10
FIELD, BUTTON = "#mail", "#go"

Work = Callable[[], Awaitable[object]]


@dataclass
class Pair:
    """Two ways to do the same, timed in blocks by turns."""

    name: str
    limit: float
    ours: Work
    bare: Work
    after: Work | None = None
    """Cleans up after each time of either; not timed."""
    times: dict[str, list[float]] = field(default_factory=dict)

    async def take_turn(self) -> None:
        for side, work in (("ours", self.ours), ("bare", self.bare)):
            for _ in range(BLOCK):
                self.times.setdefault(side, []).append(await milliseconds(work))
                if self.after is not None:
                    await self.after()

    def row(self) -> Row:
        # The first block is for warming up.
        ours, bare = (median(self.times[side][BLOCK:]) for side in ("ours", "bare"))
        note = f"{ours:.2f} ms against {bare:.2f} ms"
        return Row(self.name, ours / bare, "×", self.limit, note)


def measure() -> Iterator[Row]:
    yield from uvloop.run(_measure())


async def _measure() -> list[Row]:
    async with browser_setup() as ready:
        pairs = [*await _tabs(ready), await _fill(ready), await _clicks(ready)]
        for _ in range(BLOCKS):
            for pair in pairs:
                await pair.take_turn()
    return [pair.row() for pair in pairs]


async def _tabs(ready: BrowserSetup) -> list[Pair]:
    agent, minimal = ready.agent, ready.minimal
    page = ready.site.page("form")
    pages = cycle([ready.site.page("targets"), page])
    own, bare = await agent.open(page), await minimal.ask("open", url=page)
    opened: list[Callable[[], Awaitable[object]]] = []

    def navigate() -> Awaitable[object]:
        return agent.call("browser_navigate_tab", tabId=own, url=next(pages), observe="none")

    async def open_own() -> None:
        tab = await agent.open(page, observe="none")
        opened.append(lambda: agent.call("browser_close_tab", tabId=tab))

    async def open_bare() -> None:
        tab = await minimal.ask("open", url=page)
        opened.append(lambda: minimal.ask("close", tab=tab))

    async def close() -> None:
        await opened.pop()()

    return [
        Pair(
            "list tabs, against the floor",
            2,
            lambda: agent.call("browser_list_tabs"),
            lambda: minimal.ask("list"),
        ),
        Pair(
            "navigate, a static page",
            1.15,
            navigate,
            lambda: minimal.ask("navigate", tab=bare, url=next(pages)),
        ),
        Pair("open tab, a static page", 1.2, open_own, open_bare, after=close),
    ]


async def _fill(ready: BrowserSetup) -> Pair:
    agent, minimal = ready.agent, ready.minimal
    page = ready.site.page("form")
    own, bare = await agent.open(page), await minimal.ask("open", url=page)
    words = cycle(["Ada", "Grace"])
    return Pair(
        "fill, against the floor",
        2,
        lambda: agent.call("browser_type_text", tabId=own, selector=FIELD, text=next(words)),
        lambda: minimal.ask("fill", tab=bare, selector=FIELD, text=next(words)),
    )


async def _clicks(ready: BrowserSetup) -> Pair:
    """Not against the floor, but against a small page."""
    agent = ready.agent
    small = await agent.open(ready.site.page("form"))
    large = await agent.open(large_page(ready.site))
    click = "browser_click_element"
    return Pair(
        "click on 5,000 nodes, against a small page",
        1.2,
        lambda: agent.call(click, tabId=large, selector=BUTTON),
        lambda: agent.call(click, tabId=small, selector="[name=terms]"),
    )
