"""Names of page tools."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.hub.names import LONGEST, PageToolName, ToolNamer

_text = st.text(max_size=90)
_meant = st.builds(PageToolName, _text, _text, st.one_of(st.none(), st.integers(1, 99)))


@pytest.mark.requirement("MB-06")
@given(st.lists(_meant, max_size=20, unique=True))
def test_every_name_fits_is_nobody_elses_and_says_what_it_stands_for(
    all_meant: list[PageToolName],
) -> None:
    namer = ToolNamer()
    names = [namer.take(meant, None) for meant in all_meant]
    assert len(set(names)) == len(names)
    assert [namer.parse(name) for name in names] == all_meant
    for name in names:
        assert len(name) <= LONGEST and name.startswith("website_tool_")
        assert all(c.isascii() and (c.isalnum() or c in "_-") for c in name)


@pytest.mark.requirement("MB-06")
def test_names_are_as_expected_and_long_ones_are_the_same_every_time() -> None:
    short = PageToolName("shop.example.com:8080", "getCart", 2)
    assert ToolNamer().take(short, None) == "website_tool_shop_example_com_8080_tab2_getCart"
    long = PageToolName("shop.example.com", "x" * 100)
    assert ToolNamer().take(long, None) == ToolNamer().take(long, None)


@pytest.mark.requirement("MB-11")
def test_a_domain_that_writes_anothers_prefix_gets_another_name() -> None:
    namer = ToolNamer()
    real = namer.take(PageToolName("shop.co.uk", "pay"), None)
    other = namer.take(PageToolName("shop.co", "uk_pay"), None)
    assert real == "website_tool_shop_co_uk_pay" != other
    assert namer.parse("website_tool_shop_co_uk_pay") == ("shop.co.uk", "pay", None)
    assert namer.parse(other) == ("shop.co", "uk_pay", None)
    assert namer.parse("website_tool_shop_co_uk_nothing") is None
