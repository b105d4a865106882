"""The three issues: the wrong tab, an id that changes, a tool in several tabs."""

from pathlib import Path

import pytest

from tests.documents.mt.app import DASHBOARD, SETTINGS, TAB_A, TAB_B, app, real_app

BLOCKED = "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error(); } })"


@pytest.mark.requirement("MT-04")
@pytest.mark.document("MT-trouble-1")
async def test_a_call_to_the_wrong_tab_is_explained_by_the_list_of_tabs() -> None:
    async with app() as here:
        await here.open(TAB_B, "get_page_info", page=SETTINGS)
        await here.open(TAB_A, "get_page_info", page=DASHBOARD)
        result = await here.call("get_page_info")
        (focused,) = [tab for tab in await here.tabs() if tab["isActive"]]
        assert result["params"]["tabId"] == focused["tabId"] == TAB_A
        (wanted,) = [tab for tab in await here.tabs() if tab["title"] == SETTINGS["title"]]
        assert await here.routed("get_page_info", tabId=wanted["tabId"]) == TAB_B


@pytest.mark.real_browser
@pytest.mark.requirement("MT-02")
@pytest.mark.document("MT-trouble-2")
async def test_where_storage_is_blocked_tools_work_and_the_id_changes_on_refresh(
    tmp_path: Path,
) -> None:
    async with real_app(tmp_path) as here:
        page, tab = await here.tab(before=BLOCKED)
        assert await here.used("get_page_info") == tab
        await here.value(page, "window.isOld = true; location.reload()")
        await here.until(page, "!window.isOld")
        fresh = await here.ready(page)
        assert fresh != tab
        await here.have("get_page_info", fresh)


@pytest.mark.requirement("MT-05")
@pytest.mark.document("MB-concepts-1", "MB-flows-5", "MT-trouble-3")
async def test_a_tool_of_several_tabs_is_listed_once() -> None:
    async with app() as here:
        for tab in (TAB_A, TAB_B):
            await here.open(tab, "get_page_info")
        assert list(await here.tools()) == ["get_page_info"]
        for tab in (TAB_A, TAB_B):
            await here.focus(tab)
            assert await here.routed("get_page_info") == tab
