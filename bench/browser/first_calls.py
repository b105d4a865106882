"""The first call on a page that has just loaded, against the minimal extension's first.

Each side navigates a tab of its own to a page with scripts and makes one call there, by turns.
Navigation and call are also compared as a sum, so that nothing can be hidden in either. The floor
of a read lists the page's elements; its bare text is beside it, without a limit.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from statistics import median

import uvloop

from bench.browser.browser_setup import BrowserSetup, browser_setup
from bench.browser.pages import scripted_page
from bench.caller import milliseconds
from bench.rows import Row

CALL_LIMIT, SUM_LIMIT, NAVIGATE_LIMIT = 1.5, 1.2, 1.15
ROUNDS = 25
SELECTOR = "#go"
TEXT = "read, against the bare text"

Work = Callable[[], Awaitable[object]]
Navigate = Callable[[str], Awaitable[object]]


@dataclass
class Side:
    """One of the two, with the times of its navigations and of its first calls."""

    navigate: Navigate
    calls: dict[str, Work]
    navigated: dict[str, list[float]] = field(default_factory=dict)
    called: dict[str, list[float]] = field(default_factory=dict)

    async def take_turn(self, name: str, url: str) -> None:
        navigated = await milliseconds(lambda: self.navigate(url))
        self.navigated.setdefault(name, []).append(navigated)
        self.called.setdefault(name, []).append(await milliseconds(self.calls[name]))

    def sums(self, name: str) -> list[float]:
        return [sum(both) for both in zip(self.navigated[name], self.called[name], strict=True)]

    @property
    def navigations(self) -> list[float]:
        return [time for times in self.navigated.values() for time in times]


def measure() -> Iterator[Row]:
    yield from uvloop.run(_measure())


async def _measure() -> list[Row]:
    async with browser_setup() as ready:
        sides = [await _product(ready), await _floor(ready)]
        numbers = count()
        for _ in range(ROUNDS):
            for name in sides[0].calls:
                for side in sides:
                    await side.take_turn(name, scripted_page(ready.site, next(numbers)))
    ours, bare = sides
    rows = [
        _row("navigate, a page with scripts", ours.navigations, bare.navigations, NAVIGATE_LIMIT)
    ]
    for name in ours.calls:
        call, both = (None, None) if name == TEXT else (CALL_LIMIT, SUM_LIMIT)
        rows.append(_row(f"first {name}", ours.called[name], bare.called[name], call))
        rows.append(_row(f"navigate + first {name}", ours.sums(name), bare.sums(name), both))
    return rows


async def _product(ready: BrowserSetup) -> Side:
    agent = ready.agent
    tab = await agent.open(ready.site.page("form"))

    def tool(name: str, **arguments: object) -> Work:
        return lambda: agent.call(name, tabId=tab, **arguments)

    def navigate(url: str) -> Awaitable[object]:
        # The floor shows nothing of the page either.
        return agent.call("browser_navigate_tab", tabId=tab, url=url, observe="none")

    return Side(
        navigate,
        {
            "evaluate": tool("browser_execute_script", code="1+1"),
            "read": tool("browser_read_page"),
            TEXT: tool("browser_read_page"),
            "click": tool("browser_click_element", selector=SELECTOR),
        },
    )


async def _floor(ready: BrowserSetup) -> Side:
    minimal = ready.minimal
    tab = await minimal.ask("open", url=ready.site.page("form"))

    async def click() -> None:
        point = await minimal.ask("locate", tab=tab, selector=SELECTOR)
        await minimal.ask("click", tab=tab, point=point)

    return Side(
        lambda url: minimal.ask("navigate", tab=tab, url=url),
        {
            "evaluate": lambda: minimal.evaluate(tab),
            "read": lambda: minimal.ask("read", tab=tab),
            TEXT: lambda: minimal.ask("text", tab=tab),
            "click": click,
        },
    )


def _row(what: str, ours: list[float], bare: list[float], limit: float | None) -> Row:
    mine, floor = median(ours), median(bare)
    return Row(what, mine / floor, "×", limit, f"{mine:.1f} ms against {floor:.1f} ms")
