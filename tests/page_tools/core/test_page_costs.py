"""The cost of many tabs and tools in the hub, measured by counts and ratios, not by time alone."""

import time
import tracemalloc
from collections.abc import Callable
from statistics import median

import msgspec
import pytest

from tabhub.config.settings import Settings
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.page_tools.core.schema import PageSchema
from tabhub.server.app import App
from tests.page_tools.core.pages import hub, page, published

KILOBYTE = 1024


def _of_tabs(count: int, tools: int = 10) -> PageHub:
    made = hub()
    for tab in range(count):
        made.pages.register(page(tab, *(published(f"t{n}") for n in range(tools))))
    return made


def _cost(work: Callable[[], object]) -> float:
    def once() -> float:
        begin = time.thread_time()
        for _ in range(200):
            work()
        return time.thread_time() - begin

    return median(once() for _ in range(9))


def _memory(work: Callable[[], object]) -> int:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = work()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept is not None
    return after - before


@pytest.mark.requirement("MT-07")
def test_a_route_costs_the_same_among_ten_tabs_and_a_thousand() -> None:
    name = "website_tool_shop_example_t0"
    few, many = _of_tabs(10), _of_tabs(1000)
    for requested in (None, 5):
        base = _cost(lambda: few.page_routes.choose(name, requested, None))  # noqa: B023
        assert _cost(lambda: many.page_routes.choose(name, requested, None)) < 5 * base  # noqa: B023


@pytest.mark.requirement("MT-07")
def test_a_tab_takes_less_than_a_kilobyte() -> None:
    assert _memory(lambda: _of_tabs(1000, 0)) / 1000 < KILOBYTE


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
