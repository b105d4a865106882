"""Which tab a page tool runs in, and how tools are listed."""

from typing import Any

import pytest

from tabhub.errors import NotFound
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import PAGE_LABEL
from tabhub.page_tools.core.page_hub import PageHub
from tests.page_tools.core.pages import hub, page, published

NAME = "website_tool_shop_example_toolX"


def _two(*tabs: int | str) -> PageHub:
    made = hub()
    for tab in tabs:
        made.pages.register(page(tab, published("toolX")))
    return made


def _goes(made: PageHub, requested: object = None, current: int | None = None) -> Any:
    return made.page_routes.choose(NAME, requested, current).tab


@pytest.mark.requirement("MT-03")
@pytest.mark.document(
    "MT-scenario-1",
    "MT-scenario-2",
    "MT-scenario-3",
    "MT-scenario-4",
    "MT-scenario-5",
    "MT-scenario-6",
)
def test_the_four_scenarios_of_the_design() -> None:
    single = _two("tab-a")
    single.pages.register(page("tab-b"))
    single.pages.activated("tab-a")
    assert _goes(single) == "tab-a"
    single.pages.activated("tab-b")
    assert _goes(single) == "tab-a"

    double = _two("tab-a", "tab-b")
    double.pages.activated("tab-a")
    assert _goes(double) == "tab-a"
    double.pages.activated("tab-b")
    assert _goes(double) == "tab-b"

    double.pages.activated("tab-a")
    assert _goes(double, "tab-b") == "tab-b"

    double.pages.gone(page("tab-a").ref)
    assert _goes(double) == "tab-b"


@pytest.mark.requirement("MB-07")
@pytest.mark.document("MB-execution-3", "MB-execution-4", "MB-hub-4")
def test_the_order_is_own_tab_active_tab_latest_tab() -> None:
    made = _two(1, 2, 3)
    assert made.page_routes.choose(NAME, None, None) == (3, "no_active")
    made.pages.update(page(1).ref, {"toolX": published("toolX"), "y": published("y")}, 1.0)
    assert _goes(made) == 1
    made.pages.activated(2)
    assert _goes(made) == 2
    assert _goes(made, current=3) == 3
    assert _goes(made, current=99) == 2


@pytest.mark.requirement("MT-06")
@pytest.mark.document("MT-errors-1")
def test_a_tab_without_the_tool_is_refused_with_the_message_of_the_design() -> None:
    made = _two("tab-1", "tab-2")
    made.pages.register(page("tab-3", published("other")))
    for requested, reason in (("invalid-id", "tab_not_found"), ("tab-3", "no_tab_for_tool")):
        with pytest.raises(NotFound) as missing:
            _goes(made, requested)
        assert missing.value.message == (
            f"Tool '{NAME}' not available in tab '{requested}'. Available tabs: tab-1, tab-2"
        )
        assert missing.value.reason == reason


@pytest.mark.requirement("MT-06")
def test_an_open_tab_without_the_tool_gets_the_same_error_by_every_id() -> None:
    made = _two(1)
    made.tabs.put(Tab(2, "a", 2))
    made.tabs.join(2, "uuid-2")
    made.pages.register(page(2, published("other"), domain="bank.example", worker_id="uuid-2"))
    for requested in (2, "2", "uuid-2"):
        with pytest.raises(NotFound) as missing:
            _goes(made, requested)
        assert missing.value.reason == "no_tab_for_tool"


@pytest.mark.requirement("MT-08")
def test_a_page_known_over_both_transports_is_one_tab_if_the_origins_agree() -> None:
    made = _two("uuid-1")
    made.pages.register(page(7, published("toolX"), document="ext", worker_id="uuid-1"))
    entry = made.pages.find(NAME)
    assert entry is not None and list(entry.tabs) == [7]
    assert _goes(made, 7) == _goes(made, "uuid-1") == 7
    made.pages.looked_at("shop.example", ("https://shop.example", "uuid-1"))
    assert made.pages.in_front("shop.example") == [7]
    assert made.pages.in_front("evil.example") == []
    forger = page(8, published("toolX"), domain="evil.example", worker_id="uuid-1")
    made.pages.register(forger)
    assert list(entry.tabs) == [7]
    made.pages.closed(7)
    assert list(entry.tabs) == ["uuid-1"]


@pytest.mark.requirement("MT-04")
@pytest.mark.document("MT-schema-4")
def test_the_tab_parameter_takes_the_ids_of_its_tabs_and_never_hides_one_of_the_page() -> None:
    made = _two(1)
    assert made.tools.get(NAME).input_schema["properties"]["tabId"]["type"] == "integer"
    made.pages.register(page("uuid", published("toolX")))
    kinds = made.tools.get(NAME).input_schema["properties"]["tabId"]["type"]
    assert kinds == ["integer", "string"]
    made.pages.gone(page(1).ref)
    assert made.tools.get(NAME).input_schema["properties"]["tabId"]["type"] == "string"
    made.pages.register(page(1, published("own", 1)))
    own = made.tools.get("website_tool_shop_example_own")
    assert own.input_schema["properties"]["tabId"] == {"type": "string"}
    assert own.tab_argument == "targetTabId" and "targetTabId" in own.input_schema["properties"]


@pytest.mark.requirement("MB-06")
@pytest.mark.document("MB-flows-6", "MB-execution-2", "MT-counting-7")
def test_tabs_whose_schema_differs_have_entries_of_their_own() -> None:
    made = _two(1, 2)
    made.pages.register(page(3, published("toolX", 1)))
    names = {tool.name for tool in made.tools}
    assert names == {NAME, "website_tool_shop_example_tab3_toolX"}
    assert made.page_routes.choose("website_tool_shop_example_tab3_toolX", None, None).tab == 3
    with pytest.raises(NotFound):
        _goes(made, 3)


@pytest.mark.requirement("MB-06")
@pytest.mark.document("MB-architecture-2", "MB-execution-9", "MB-execution-10", "MB-execution-11")
def test_listed_per_tab_the_active_tab_is_marked_without_a_notification() -> None:
    made = hub("per-tab")
    changes: list[int] = []
    for tab in (11, 12):
        made.pages.register(page(tab, published("toolX")))
    made.tools.on_change(lambda: changes.append(1))
    second = "website_tool_shop_example_tab2_toolX"
    assert made.tools.get(second).description == f"[shop.example • Tab 2] {PAGE_LABEL}Does toolX."
    made.pages.activated(12)
    assert (
        made.tools.get(second).description
        == f"[shop.example • Tab 2 Active] {PAGE_LABEL}Does toolX."
    )
    made.pages.activated(11)
    assert made.tools.get(second).description == f"[shop.example • Tab 2] {PAGE_LABEL}Does toolX."
    assert not changes


@pytest.mark.requirement("MB-09")
@pytest.mark.document("MB-registration-10", "MB-disconnect-3", "MB-disconnect-6")
def test_a_cached_tool_stays_and_names_the_address_for_a_tab() -> None:
    for mode in ("merged", "per-tab"):
        made = hub(mode)
        made.pages.register(page(1, published("toolX", cached=True), published("y")))
        made.pages.register(page(2, published("z"), domain="bank.example"))
        made.pages.closed(1)
        assert {tool.name for tool in made.tools if "shop" in tool.name} == {NAME}
        assert made.page_routes.choose(NAME, None, 2) == (None, "remembered")
        entry = made.pages.find(NAME)
        place = None if entry is None else made.pages.place(entry)
        assert place is not None and place.url == "https://shop.example/1"
        assert len(made.tools) == 2
