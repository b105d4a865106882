"""What grows with tabs, tools, agents and nodes, and how fast: the exponent of each."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from statistics import median
from urllib.parse import quote

import uvloop

from bench import performance
from bench.browser.browser_setup import BrowserSetup, browser_setup
from bench.caller import Caller, milliseconds
from bench.processes import server
from bench.rows import Row
from bench.server.echo_server import SECRET
from bench.server.search import example_tool
from tabhub.hub.tools import ToolRegistry
from tabhub.store.tool_index import FullTextIndex

TABS = (1, 3, 10, 30, 100)
TOOLS = (10, 100, 1_000, 10_000)
AGENTS = (1, 3, 10, 30, 100)
NODES = (100, 1_000, 10_000, 100_000, 200_000)
ROUNDS = 15
AGENT_CALLS = 10
PAUSE_SECONDS = 0.2
"""Between two calls of an agent."""
LOAD_SECONDS = 60
NODE_PAGE = """<title>Nodes</title><button id=go>Go</button><main id=m></main><script>
m.innerHTML = "<p>text</p>".repeat(%d)
</script>"""

Points = list[tuple[float, float]]
Curves = dict[str, Points]


def measure() -> Iterator[Row]:
    """Each exponent as a row; the points go to docs/performance.md."""
    found: Curves = {"search among tools: CPU, ms": _tools(), **uvloop.run(_agents())}
    found |= uvloop.run(_browser())
    performance.save(growth=found)
    for name, points in found.items():
        sizes = f"from {points[0][0]:,.0f} to {points[-1][0]:,.0f}"
        note = f"{performance.number(points[0][1])} and {performance.number(points[-1][1])}"
        yield Row(f"growth: {name}, {sizes}", performance.exponent(points), "", note=note)


def _tools() -> Points:
    def cost(size: int) -> float:
        tools = ToolRegistry()
        tools.add(*(example_tool(number) for number in range(size)))
        index = FullTextIndex(tools)
        next(index.search("user"), None)
        times = []
        for _ in range(ROUNDS):
            begin = time.thread_time()
            next(index.search("send message"), None)
            times.append((time.thread_time() - begin) * 1000)
        return median(times)

    return [(size, cost(size)) for size in TOOLS]


async def _agents() -> Curves:
    """The median time of a call while so many agents call at an agent's pace."""
    points: Points = []
    with server("bench.server.echo_server") as product:
        for size in AGENTS:
            agents = [await Caller.begin(product.port, SECRET) for _ in range(size)]
            times = await asyncio.gather(
                *(_paced(agent, index / size) for index, agent in enumerate(agents))
            )
            points.append((size, median(each for one in times for each in one)))
    return {"agents at once: a call, ms": points}


async def _paced(agent: Caller, offset: float) -> list[float]:
    """Calls with pauses; `offset` spreads the agents over a pause."""
    await asyncio.sleep(offset * PAUSE_SECONDS)
    times = []
    for _ in range(AGENT_CALLS):
        times.append(await milliseconds(lambda: agent.call("echo", text="x")))
        await asyncio.sleep(PAUSE_SECONDS)
    return times


async def _browser() -> Curves:
    async with browser_setup() as ready:
        return {**await _nodes(ready), **await _tabs(ready)}


async def _nodes(ready: BrowserSetup) -> Curves:
    clicks: Points = []
    reads: Points = []
    for size in NODES:
        url = f"{ready.site.url}/html?body={quote(NODE_PAGE % size)}"
        async with asyncio.timeout(LOAD_SECONDS):
            tab = await ready.agent.open(url)
            clicks.append((size, await _median(ready, "browser_click_element", tab, "#go")))
            reads.append((size, await _median(ready, "browser_read_page", tab)))
            await ready.agent.call("browser_close_tab", tabId=tab)
    return {"nodes of a page: click, ms": clicks, "nodes of a page: read, ms": reads}


async def _tabs(ready: BrowserSetup) -> Curves:
    page = ready.site.page("form")
    clicks: Points = []
    lists: Points = []
    tabs: list[int] = []
    for size in TABS:
        while len(tabs) < size:
            tabs.append(await ready.agent.open(page))
        clicks.append((size, await _median(ready, "browser_click_element", tabs[0], "#mail")))
        lists.append((size, await _timed(lambda: ready.agent.call("browser_list_tabs"))))
    return {"open tabs: click, ms": clicks, "open tabs: list tabs, ms": lists}


async def _median(ready: BrowserSetup, tool: str, tab: int, selector: str = "") -> float:
    target = {"selector": selector} if selector else {}
    return await _timed(lambda: ready.agent.call(tool, tabId=tab, **target))


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    await work()
    return median([await milliseconds(work) for _ in range(ROUNDS)])
