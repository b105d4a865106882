"""Names of page tools."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.hub.names import PageToolName, free_name
from tabhub.wire.tool_names import LONGEST
from tests.page_tools.core.pages import hub, page, published

_text = st.text(max_size=90)
_meant = st.builds(PageToolName, _text, _text, st.one_of(st.none(), st.integers(1, 99)))


@pytest.mark.requirement("MB-06")
@pytest.mark.document("MB-architecture-1")
@given(st.lists(_meant, max_size=20, unique=True))
def test_every_name_is_valid_unique_and_can_be_parsed(
    all_meant: list[PageToolName],
) -> None:
    names: dict[str, PageToolName] = {}
    for meant in all_meant:
        names[free_name(meant, None, names)] = meant
    assert list(names.values()) == all_meant
    for name in names:
        assert len(name) <= LONGEST and name.startswith("website_tool_")
        assert all(c.isascii() and (c.isalnum() or c in "_-") for c in name)


@pytest.mark.requirement("MB-06")
@pytest.mark.document("MB-registration-3")
def test_names_are_as_expected_and_long_ones_are_stable() -> None:
    short = PageToolName("shop.example.com:8080", "getCart", 2)
    assert free_name(short, None, ()) == "website_tool_shop_example_com_8080_tab2_getCart"
    long = PageToolName("shop.example.com", "x" * 100)
    assert free_name(long, None, ()) == free_name(long, None, ())


@pytest.mark.requirement("MB-11")
@pytest.mark.document("MB-considerations-2", "MB-execution-2")
def test_a_domain_that_imitates_the_prefix_of_another_gets_another_name() -> None:
    made = hub()
    made.pages.register(page(1, published("pay"), domain="shop.co.uk"))
    made.pages.register(page(2, published("uk_pay"), domain="shop.co"))
    real, other = (tool.name for tool in made.tools)
    parse = made.pages.listing.parse
    assert real == "website_tool_shop_co_uk_pay" != other
    assert parse(real) == ("shop.co.uk", "pay", None)
    assert parse(other) == ("shop.co", "uk_pay", None)
    assert parse("website_tool_shop_co_uk_nothing") is None
