"""The texts of errors about tabs and tools, and a call while no tab is active."""

import logging
from pathlib import Path

import pytest

from tests.documents.mt.app import TAB_A, TAB_B, app, real_app
from tests.support.agent import ToolFailed
from tests.support.browsers.shops import worker_shops

pytestmark = pytest.mark.requirement("MT-06")
NAME = "website_tool_app_example_com_"


@pytest.mark.document("MT-errors-1", "MT-errors-5")
async def test_a_tab_that_is_not_found_is_reported_with_the_tabs_that_have_the_tool() -> None:
    async with app() as here:
        for tab in (TAB_A, TAB_B):
            await here.open(tab, "get_page_info")
        failed = await here.failure("get_page_info", tabId="invalid-id")
        assert failed.reason == "tab_not_found"
        assert failed.message == (
            f"Tool '{NAME}get_page_info' not available in tab 'invalid-id'. "
            f"Available tabs: {TAB_A}, {TAB_B}"
        )


@pytest.mark.document("MT-errors-4")
async def test_a_tool_that_the_named_tab_lacks_is_reported_with_the_tabs_that_have_it() -> None:
    async with app() as here:
        await here.open(TAB_A, "get_tool_a")
        await here.open(TAB_B, "get_tool_b")
        failed = await here.failure("get_tool_b", tabId=TAB_A)
        assert failed.reason == "no_tab_for_tool"
        assert failed.message == (
            f"Tool '{NAME}get_tool_b' not available in tab '{TAB_A}'. Available tabs: {TAB_B}"
        )


@pytest.mark.document("MT-errors-2", "MT-errors-3")
async def test_without_an_active_tab_a_call_still_works_and_a_warning_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with app() as here:
        for tab in (TAB_A, TAB_B):
            await here.open(tab, "get_page_info")
        await here.focus(None)
        assert [tab["isActive"] for tab in await here.tabs()] == [False, False]
        assert await here.routed("get_page_info") in (TAB_A, TAB_B)
    warnings = [line.getMessage() for line in caplog.records if line.levelno == logging.WARNING]
    assert any("no tab is active" in warning for warning in warnings)


@pytest.mark.document("MT-errors-4")
@pytest.mark.real_browser
async def test_pages_in_a_browser_are_named_in_the_same_errors(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        (_, dashboard), (_, settings) = await here.tab(), await here.tab("settings")
        await here.have("get_settings", settings)
        name = (await here.tool("get_page_info"))["name"]
        for tab, reason in (("invalid-id", "tab_not_found"), (settings, "no_tab_for_tool")):
            with pytest.raises(ToolFailed) as failed:
                await here.used("get_page_info", tabId=tab)
            assert failed.value.reason == reason
            message = f"Tool '{name}' not available in tab '{tab}'. Available tabs: {dashboard}"
            assert failed.value.message == message


@pytest.mark.document("MT-errors-2")
@pytest.mark.real_browser
async def test_without_an_active_tab_a_tool_still_works_and_says_so(tmp_path: Path) -> None:
    async with worker_shops(tmp_path) as here:
        (first_page, first), (_, second) = await here.shops(2)
        window = (await here.cdp.send("Browser.getWindowForTarget", targetId=first_page))[
            "windowId"
        ]
        bounds = {"windowState": "minimized"}
        await here.cdp.send("Browser.setWindowBounds", windowId=window, bounds=bounds)
        await here.looked_at(None)
        result = await here.agent.result((await here.tool("view_cart"))["name"])
        assert result["_meta"]["tabhub/tabId"] in (first, second)
        assert "No tab is active" in result["_meta"]["tabhub/warning"]
