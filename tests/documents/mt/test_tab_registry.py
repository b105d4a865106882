"""What is kept of each tab, and of each tool the tabs that have it."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.documents.mt.app import DASHBOARD, SETTINGS, TAB_A, TAB_B, app


@pytest.mark.requirement("MT-04")
@pytest.mark.document("MT-registry-1")
async def test_a_tab_is_kept_with_id_address_title_and_time() -> None:
    async with app() as here:
        await here.open(TAB_A, "get_page_info")
        (entry,) = await here.tabs()
        seen = datetime.fromisoformat(entry.pop("lastSeen"))
        assert entry == {"tabId": TAB_A, **DASHBOARD, "isActive": True}
        assert timedelta() <= datetime.now(UTC) - seen < timedelta(minutes=1)
        await here.register(TAB_A, "get_page_info", page=SETTINGS)
        (entry,) = await here.tabs()
        assert (entry["url"], entry["title"]) == (SETTINGS["url"], SETTINGS["title"])


@pytest.mark.requirement("MT-05")
@pytest.mark.document("MT-overview-1", "MT-tools-1")
async def test_each_tool_has_the_set_of_tabs_that_have_it() -> None:
    async with app() as here:
        await here.open(TAB_A, "get_page_info", "get_user_data")
        await here.open(TAB_B, "get_page_info")
        tabs = {
            name: set((await here.failure(name, tabId="nowhere")).error["tabs"])
            for name in ("get_page_info", "get_user_data")
        }
        assert tabs == {"get_page_info": {TAB_A, TAB_B}, "get_user_data": {TAB_A}}
