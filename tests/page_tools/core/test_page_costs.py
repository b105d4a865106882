"""The cost of many tabs and tools in the hub: processor time of this thread, bytes and ratios.

The rows name figures. Processor time does not grow when the machine is busy, but other things
share its caches, so each figure has headroom here; `make bench` prints the figures themselves.
"""

import itertools
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from statistics import median

import msgspec
import pytest

from tabhub.config.settings import Settings
from tabhub.errors import TabhubError
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.page_tools.core.schema import PageSchema
from tabhub.server.app import App
from tests.page_tools.core.pages import hub, page, published

pytestmark = pytest.mark.slow
KILOBYTE = 1024
HEADROOM = 10
TOOL = "website_tool_shop_example_t0"


def _of_tabs(count: int, tools: int = 10) -> PageHub:
    made = hub()
    for tab in range(count):
        made.pages.register(page(tab, *(published(f"t{n}") for n in range(tools))))
    return made


def _cost(work: Callable[[], object], times: int = 200) -> float:
    """The seconds that the processor works on it."""

    def once() -> float:
        begin = time.thread_time()
        for _ in range(times):
            work()
        return time.thread_time() - begin

    return median(once() for _ in range(9)) / times


def _memory(work: Callable[[], object]) -> int:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = work()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept is not None
    return after - before


def _choose(of: PageHub, requested: int | None) -> None:
    of.page_routes.choose(TOOL, requested, None)


def _fail(of: PageHub, name: str, requested: int | None) -> None:
    with pytest.raises(TabhubError):
        of.page_routes.choose(name, requested, None)


@pytest.mark.requirement("MT-07")
@pytest.mark.document("MT-performance-2")
def test_a_route_costs_the_same_among_ten_tabs_and_a_thousand() -> None:
    few, many = _of_tabs(10), _of_tabs(1000)
    for requested in (None, 5):
        base = _cost(partial(_choose, few, requested))
        cost = _cost(partial(_choose, many, requested))
        assert cost < 5 * base
        assert cost < HEADROOM * 10e-6


@pytest.mark.requirement("MT-07")
@pytest.mark.parametrize(("name", "requested"), [(TOOL, 99_999), ("website_tool_no_such", None)])
def test_an_unknown_tab_or_tool_costs_the_same_among_ten_tabs_and_a_thousand(
    name: str, requested: int | None
) -> None:
    few, many = _of_tabs(10), _of_tabs(1000)
    base = _cost(partial(_fail, few, name, requested))
    assert _cost(partial(_fail, many, name, requested)) < 5 * base


@pytest.mark.requirement("MT-07")
def test_a_tab_registers_its_ten_tools_at_the_same_cost_beside_ten_thousand_others() -> None:
    few, many = _of_tabs(10), _of_tabs(1000)
    tab = page(5, *(published(f"t{n}") for n in range(10)))
    base = _cost(lambda: few.pages.register(tab), 20)
    cost = _cost(lambda: many.pages.register(tab), 20)
    assert cost < 5 * base


@pytest.mark.requirement("MT-07")
@pytest.mark.document("MT-performance-1")
def test_a_tab_takes_less_than_a_kilobyte_and_a_tenth_of_a_millisecond() -> None:
    assert _memory(lambda: _of_tabs(1000, 0)) / 1000 < KILOBYTE
    made, tabs = _of_tabs(1000), itertools.count(2000)
    assert _cost(lambda: made.pages.register(page(next(tabs)))) < HEADROOM * 0.1e-3


@pytest.mark.requirement("MT-07")
def test_a_tab_with_ten_tools_of_its_site_takes_less_than_a_kilobyte_for_each() -> None:
    assert _memory(lambda: _of_tabs(1000)) / 10_000 < KILOBYTE


@pytest.mark.requirement("MB-13")
@pytest.mark.document("MB-testing-7")
def test_ten_tools_register_within_ten_milliseconds() -> None:
    made, tabs = _of_tabs(1000), itertools.count(2000)

    def register() -> None:
        tools = (published(f"new{n}") for n in range(10))
        made.pages.register(page(next(tabs), *tools, domain="new.example"))

    assert _cost(register, 20) < HEADROOM * 10e-3


@pytest.mark.requirement("MB-13")
def test_ten_thousand_tools_of_two_hundred_sites_take_less_than_a_kilobyte_each() -> None:
    def registered() -> PageHub:
        made = hub()
        for tab in range(200):
            tools = (published(f"t{n}") for n in range(50))
            made.pages.register(page(tab, *tools, domain=f"site-{tab}.example"))
        return made

    assert _memory(registered) / 10_000 < KILOBYTE


@pytest.mark.requirement("MB-13")
@pytest.mark.document("MB-hub-3")
def test_a_message_of_a_page_changes_only_its_own_tools() -> None:
    made = _of_tabs(50)
    before = {tool.name: tool for tool in made.tools}
    made.pages.register(page(99, published("new"), published("t0")))
    after = {tool.name: tool for tool in made.tools}
    assert after.keys() - before.keys() == {"website_tool_shop_example_new"}
    assert all(after[name] is tool for name, tool in before.items())


def test_a_schema_is_compiled_at_the_first_call_and_the_least_recent_is_dropped() -> None:
    app = App(Settings(), "5e" * 32)
    for tab in range(30):
        tools = (published(f"t{n}") for n in range(50))
        app.hub.pages.register(page(tab, *tools, domain=f"site-{tab}.example"))
    compiled = app.runner._validators.compiled
    assert not len(compiled)
    for tool in app.hub.tools:
        if isinstance(tool.input_schema, PageSchema):
            app.runner.check(tool.name, None)
    assert len(compiled) == 1000
    app.close()


@pytest.mark.parametrize(
    "own", [b'{"properties":{},"type":"object"}', b'{"properties":{"a":{}}}', b'{"type":"object"}']
)
def test_the_listed_schema_is_equal_to_its_encoded_form(own: bytes) -> None:
    schema = PageSchema(own, "tabId", ("integer",))
    assert msgspec.json.decode(schema.written()) == schema.plain()
