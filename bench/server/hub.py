"""The cost of page tools in the hub: registering, listing, routing and memory, with many tabs."""

import asyncio
import time
import tracemalloc
from collections.abc import Callable, Iterator
from statistics import median

import msgspec
import uvloop

from bench.rows import Row
from tabhub.agents.tool_search import Listing
from tabhub.config.clients import MAIN
from tabhub.config.settings import Settings
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.page_tools.core.storage import Page, PageRef, Published
from tabhub.page_tools.intake import Registration
from tabhub.server.app import App
from tabhub.wire.pages import Capabilities

TABS, TOOLS = 200, 50
MANY_TABS, MANY_TOOLS = 1000, 10
ROUNDS = 50
SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
    },
    "required": ["query"],
}


def measure() -> Iterator[Row]:
    yield from uvloop.run(_app())
    yield uvloop.run(_memory())
    yield from _routing()


async def _app() -> list[Row]:
    """A whole registration: checked, registered, listed, stored."""
    app = App(Settings(), "5e" * 32)
    ten = _registering(app, 10, ROUNDS, 0)
    for tab in range(TABS):
        _register(app, 1000 + tab, TOOLS)
    rows = [
        Row("register a page with 10 tools", median(ten), " ms", 10, _against(10, ten)),
        _one_more(app),
        *_listing(app),
    ]
    app.close()
    await asyncio.sleep(0)
    return rows


def _one_more(app: App) -> Row:
    times = _registering(app, TOOLS, ROUNDS, 5000)
    what = f"one more tab with {TOOLS} tools beside {TABS} × {TOOLS}"
    return Row(what, median(times), " ms", 5, _against(TOOLS, times))


def _against(tools: int, times: list[float]) -> str:
    """A note that compares it with decoding the JSON alone."""
    raw = msgspec.json.encode(_tools(tools))
    floor = median(_milliseconds(lambda: msgspec.json.decode(raw)) for _ in range(ROUNDS))
    return f"{median(times) / floor:.0f}× reading its JSON, {floor:.2f} ms"


def _listing(app: App) -> list[Row]:
    listing = Listing(app.hub.tools, app.guard, lambda: ["pages"])
    count = len(app.hub.tools)
    cold = _milliseconds(lambda: listing.of(MAIN, None))
    warm = median(_milliseconds(lambda: listing.of(MAIN, None)) for _ in range(ROUNDS))
    return [
        Row(f"tools/list of {count:,} tools, warm", warm, " ms", 20),
        Row(f"tools/list of {count:,} tools, after a change", cold, " ms"),
    ]


def _registering(app: App, tools: int, rounds: int, first: int) -> list[float]:
    return [_milliseconds(lambda: _register(app, first + n, tools)) for n in range(rounds)]  # noqa: B023


def _register(app: App, tab: int, tools: int) -> None:
    origin = f"https://site-{tab}.example"
    raw = [msgspec.Raw(msgspec.json.encode(tool)) for tool in _tools(tools)]
    registration = Registration(PageRef("link:a", tab), origin, origin, "", raw, Capabilities())
    app.pages.register(registration)


def _tools(count: int) -> list[dict[str, object]]:
    return [
        {
            "name": f"tool_{n}",
            "description": f"Does the thing number {n}.",
            "inputSchema": {**SCHEMA, "title": f"Of tool {n}"},
        }
        for n in range(count)
    ]


async def _memory() -> Row:
    """Memory of 10,000 tools: 50 on each of 200 sites."""
    app = App(Settings(), "5e" * 32)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for tab in range(TABS):
        _register(app, tab, TOOLS)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    app.close()
    each = (after - before) / (TABS * TOOLS)
    return Row(f"memory for each of {TABS * TOOLS:,} page tools", each, " bytes", 1024)


def _page(tab: int, domain: str, tools: int) -> Page:
    schema = msgspec.json.encode(SCHEMA)
    published = (
        Published(f"tool_{n}", f"Does the thing number {n}.", bytes(bytearray(schema)))
        for n in range(tools)
    )
    return Page(
        ref=PageRef("link:a", tab),
        domain=domain,
        origin=f"https://{domain}",
        url=f"https://{domain}/",
        title="A shop",
        tools={tool.name: tool for tool in published},
        seen=time.time(),
    )


def _routing() -> Iterator[Row]:
    """Route among 1,000 tabs of one site with 10,000 tools in all."""
    hub = PageHub()
    for tab in range(MANY_TABS):
        hub.pages.register(_page(tab, "shop.example", MANY_TOOLS))
    name = next(iter(hub.tools)).name
    choose = hub.page_routes.choose
    for what, requested, current in (("named", 500, None), ("latest", None, None)):
        each = _each(lambda: choose(name, requested, current)) * 1000  # noqa: B023
        yield Row(f"route among {MANY_TABS:,} tabs, {what}", each, " µs", 10)
    numbers = iter(range(MANY_TABS, 10 * MANY_TABS))
    pages = (_page(tab, "shop.example", 0) for tab in numbers)
    ready = [next(pages) for _ in range(ROUNDS)]
    times = [_milliseconds(lambda: hub.pages.register(page)) for page in ready]  # noqa: B023
    yield Row(f"register a tab beside {MANY_TABS:,}", median(times), " ms", 0.1)
    yield _tab_memory()


def _tab_memory() -> Row:
    hub = PageHub()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for tab in range(MANY_TABS):
        hub.pages.register(_page(tab, "shop.example", 0))
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    each = (after - before) / MANY_TABS
    return Row("memory for each tab, tools aside", each, " bytes", 1024)


def _each(work: Callable[[], object], times: int = 1000) -> float:
    def many() -> None:
        for _ in range(times):
            work()

    return median(_milliseconds(many) for _ in range(10)) / times


def _milliseconds(work: Callable[[], object]) -> float:
    begin = time.thread_time()
    work()
    return (time.thread_time() - begin) * 1000
