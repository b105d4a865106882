"""How tools are registered and updated."""

import pytest

from tests.documents.mb.shops import SHOP, sites
from tests.support.browsers.extension import page_tool

SEARCH, CART = "website_tool_shop_example_search", "website_tool_shop_example_cart"
CACHED = {"annotations": {"cache": True}}


@pytest.mark.document("MB-registration-9")
async def test_the_same_registration_again_changes_nothing() -> None:
    async with sites(1) as here:
        changes: list[int] = []
        here.server.app.hub.tools.on_change(lambda: changes.append(1))
        for _ in range(3):
            await here.extension.publish(1, page_tool("search"), page_tool("search"))
        assert list(here.listed()) == [SEARCH] and len(changes) == 1


@pytest.mark.document("MB-registration-7", "MB-registration-8")
async def test_an_update_removes_replaces_and_adds_tools_and_keeps_cached_ones() -> None:
    async with sites(1, 2) as here:
        await here.extension.publish(2, page_tool("other"), origin="https://bank.example")
        stays, goes = page_tool("stays", **CACHED), page_tool("goes")
        await here.extension.publish(1, stays, goes, page_tool("search"))
        await here.update(1, page_tool("search", description="Finds tea."), page_tool("cart"))
        listed = here.listed()
        assert {*listed} == {
            SEARCH,
            CART,
            "website_tool_shop_example_stays",
            "website_tool_bank_example_other",
        }
        assert listed[SEARCH].endswith("Finds tea.")


@pytest.mark.document("MB-registration-12")
async def test_a_page_that_begins_without_tools_may_add_them_later() -> None:
    async with sites(1) as here:
        await here.extension.publish(1)
        assert here.listed() == {}
        await here.update(1, page_tool("search"))
        assert list(here.listed()) == [SEARCH]


@pytest.mark.document("MB-messages-3")
async def test_the_address_of_the_tab_may_be_missing() -> None:
    async with sites(1) as here:
        params = {"tabId": 1, "origin": SHOP, "tools": [page_tool("search")]}
        await here.extension.notify("browser/registerTools", params)
        await here.extension.settled()
        assert list(here.listed()) == [SEARCH]
