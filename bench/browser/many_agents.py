"""A hundred agents, each with a tab and a call every two seconds, against one agent alone."""

import asyncio
import random
from collections.abc import Awaitable, Iterator
from itertools import chain
from statistics import median, quantiles

import uvloop

from bench.browser.browser_setup import BrowserSetup, browser_setup
from bench.caller import Caller, milliseconds
from bench.rows import Row

LIMIT = 10
AGENTS, CALLS = 100, 8
EVERY_SECONDS = 2.0


def measure() -> Iterator[Row]:
    yield uvloop.run(_measure())


async def _measure() -> Row:
    async with browser_setup() as ready:
        agents = [await _with_tab(ready) for _ in range(AGENTS)]
        # The first call in a tab attaches the debugger.
        await _paced(*agents[0])
        alone = median(await _paced(*agents[0]))
        # The first of their calls wake tabs that have rested since they were opened.
        times = await asyncio.gather(*(_paced(*agent, 2 * CALLS) for agent in agents))
        together = [*chain(*(calls[CALLS:] for calls in times))]
    slow = quantiles(together, n=20)[-1]
    note = f"{slow:.1f} ms against {alone:.1f} ms; {len(together)} calls"
    return Row(f"{AGENTS} agents: p95 of a call, against one agent", slow / alone, "×", LIMIT, note)


async def _with_tab(ready: BrowserSetup) -> tuple[Caller, int]:
    agent = await Caller.begin(ready.product.wait_running(), ready.product.secret)
    return agent, await agent.open(ready.site.page("form"))


async def _paced(agent: Caller, tab: int, calls: int = CALLS) -> list[float]:
    def call() -> Awaitable[object]:
        return agent.call("browser_execute_script", tabId=tab, code="1+1")

    times = []
    for _ in range(calls):
        await asyncio.sleep(random.uniform(0, 2 * EVERY_SECONDS))
        times.append(await milliseconds(call))
    return times
