"""`list_browser_tabs`: the tabs as they are now."""

import re
from pathlib import Path

import pytest

from tests.documents.mt.app import DASHBOARD, SETTINGS, TAB_A, TAB_B, app
from tests.support.browsers.shops import worker_shops
from tests.support.eventually import eventually

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.mark.requirement("MT-04")
@pytest.mark.document("MT-discovery-1", "MT-discovery-2", "MT-discovery-3")
async def test_the_list_has_the_tabs_of_the_example() -> None:
    async with app() as here:
        await here.open(TAB_B, page=SETTINGS)
        await here.open(TAB_A)
        tabs = {tab["tabId"]: tab for tab in await here.tabs()}
        assert all(TIME.fullmatch(tab.pop("lastSeen")) for tab in tabs.values())
        assert tabs == {
            TAB_A: {"tabId": TAB_A, **DASHBOARD, "isActive": True},
            TAB_B: {"tabId": TAB_B, **SETTINGS, "isActive": False},
        }
        await here.close(TAB_A)
        assert [tab["tabId"] for tab in await here.tabs()] == [TAB_B], "as it is now"


@pytest.mark.requirement("MT-04")
@pytest.mark.document("MT-discovery-4")
async def test_at_most_one_tab_is_active_and_it_is_the_focused_one() -> None:
    async with app() as here:
        for tab in (TAB_A, TAB_B):
            await here.open(tab)
        for focused in (TAB_A, TAB_B, TAB_A):
            await here.focus(focused)
            assert [tab["tabId"] for tab in await here.tabs() if tab["isActive"]] == [focused]


@pytest.mark.real_browser
@pytest.mark.requirement("MT-04")
@pytest.mark.document("MT-registry-3", "MT-discovery-3")
async def test_the_list_of_tabs_has_every_field(tmp_path: Path) -> None:
    async with worker_shops(tmp_path) as here:
        (_, first), (second_page, second) = await here.shops(2)
        await here.value(
            second_page, "history.pushState(0, '', '/?new'); document.title = 'My shop'"
        )
        await eventually(
            here.tabs, until=lambda found: "My shop" in [tab["title"] for tab in found]
        )
        tabs = {tab["tabId"]: tab for tab in await here.tabs()}
        assert set(tabs) == {first, second}
        assert tabs[second]["url"] == f"{here.site}/?new"
        assert tabs[first]["url"] == here.shop and tabs[first]["title"] == "tabhub demo shop"
        assert tabs[second]["isActive"] and not tabs[first]["isActive"]
        assert TIME.fullmatch(tabs[first]["lastSeen"])
