"""The usual operations of an agent, in ms and as a multiple of the floor's evaluate.

The limits are targets for an idle machine with 2 cores; the multiples can be compared.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from statistics import median
from typing import Any

import uvloop

from bench.browser.browser_setup import BrowserSetup, browser_setup
from bench.browser.pages import item_page, large_page, link_page
from bench.browser.starting import start_to_initialize
from bench.caller import Caller, milliseconds
from bench.rows import Row

TURNS, BLOCK = 5, 10
EVERYTHING = 1_000_000
KILOBYTE = 1024


@dataclass
class Operation:
    """An operation to time, with its target."""

    name: str
    work: Callable[[], Awaitable[int]]
    """Does it once, and returns the size of the text that an agent reads."""
    aim: float | None = None
    size_aim: float | None = None
    after: Callable[[], Awaitable[object]] | None = None
    """Prepares the next time; not timed."""
    times: list[float] = field(default_factory=list)
    size: int = 0

    async def take_turn(self) -> None:
        """Time a block of calls, so that within it only this operation uses the machine."""

        async def work() -> None:
            self.size = await self.work()

        for _ in range(BLOCK):
            self.times.append(await milliseconds(work))
            if self.after is not None:
                await self.after()

    @property
    def median(self) -> float:
        return median(self.times[BLOCK:])

    def rows(self, floor: float) -> Iterator[Row]:
        time = self.median
        yield Row(self.name, time, " ms", self.aim, f"{time / floor:.1f}× the evaluate floor")
        if self.size_aim is not None:
            yield Row(f"{self.name}: size", self.size / KILOBYTE, " KB", self.size_aim)


def measure() -> Iterator[Row]:
    yield from uvloop.run(_measure())


async def _measure() -> list[Row]:
    async with browser_setup() as ready:
        form = await ready.agent.open(ready.site.page("form"))
        known = [*await _in_pages(ready, form), *_tabs(ready), _tools(ready.agent)]
        floor = Operation("floor", lambda: _floor(ready, form))
        for _ in range(TURNS):
            for operation in (*known, floor):
                await operation.take_turn()
    rows = [row for operation in known for row in operation.rows(floor.median)]
    return [*rows, Row("start to initialize", await start_to_initialize(), " ms", 400)]


async def _floor(ready: BrowserSetup, tab: int) -> int:
    await ready.minimal.evaluate(tab)
    return 0


async def _in_pages(ready: BrowserSetup, form: int) -> list[Operation]:
    agent, site = ready.agent, ready.site
    items, links = await agent.open(item_page(site)), await agent.open(link_page(site))
    large = await agent.open(large_page(site))
    words = cycle(["Ada", "Grace"])

    def tool(name: str, **arguments: Any) -> Callable[[], Awaitable[int]]:
        return lambda: _text_size(agent, name, **arguments)

    def read(tab: int) -> Callable[[], Awaitable[int]]:
        return tool("browser_read_page", tabId=tab, max_chars=EVERYTHING)

    def fill() -> Awaitable[int]:
        arguments = {"tabId": form, "selector": "#mail", "text": next(words)}
        return _text_size(agent, "browser_type_text", **arguments)

    click = "browser_click_element"
    return [
        Operation("evaluate", tool("browser_execute_script", tabId=form, code="1+1"), 2.5),
        Operation("click", tool(click, tabId=form, selector="[name=terms]"), 12),
        Operation("click on 5,000 nodes", tool(click, tabId=large, selector="#go"), 15),
        Operation("fill", fill, 6),
        Operation("read a small form", read(form), 5),
        Operation("read 500 items", read(items), 15, 10),
        Operation("read 500 links", read(links), 15),
        Operation("read 5,000 nodes", read(large), 35, 80),
    ]


def _tabs(ready: BrowserSetup) -> list[Operation]:
    agent, site = ready.agent, ready.site
    opened: list[int] = []
    pages = cycle([site.page("targets"), site.page("form")])

    async def open_tab() -> int:
        opened.append(await agent.open(site.page("form")))
        return 0

    def navigate() -> Awaitable[int]:
        return _text_size(agent, "browser_navigate_tab", tabId=opened[0], url=next(pages))

    async def close() -> None:
        if len(opened) > 1:
            await agent.call("browser_close_tab", tabId=opened.pop())

    return [
        Operation("list tabs", lambda: _text_size(agent, "browser_list_tabs"), 2),
        Operation("open tab", open_tab, 110, after=close),
        Operation("navigate", navigate, 130),
    ]


def _tools(agent: Caller) -> Operation:
    async def listed() -> int:
        return len(await agent.request("tools/list", {}))

    return Operation("tools/list", listed, 1.5, 8)


async def _text_size(agent: Caller, tool: str, **arguments: Any) -> int:
    result = await agent.call(tool, **arguments)
    return len(result["content"][0]["text"].encode())
