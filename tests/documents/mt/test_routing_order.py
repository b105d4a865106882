"""The five steps of smart routing, one by one, and the time at which a tab was last seen."""

import asyncio
from datetime import datetime
from typing import Any

import pytest

from tests.documents.mt.app import ORIGIN, TAB_A, TAB_B, App, app
from tests.support.browsers.page_tools import tool_name

TAB_C = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


@pytest.mark.document("MT-routing-1")
async def test_the_named_tab_comes_before_the_active_one() -> None:
    async with app() as here:
        for tab in (TAB_A, TAB_B):
            await here.open(tab, "tool_x")
        assert await here.routed("tool_x", tabId=TAB_A) == TAB_A


@pytest.mark.document("MT-routing-2")
async def test_the_only_tab_with_the_tool_comes_before_the_active_one() -> None:
    async with app() as here:
        await here.open(TAB_A, "tool_x")
        await here.open(TAB_B, "other")
        assert await here.routed("tool_x") == TAB_A


@pytest.mark.document("MT-routing-3")
async def test_of_several_tabs_with_the_tool_the_active_one_gets_the_call() -> None:
    async with app() as here:
        for tab in (TAB_A, TAB_B, TAB_C):
            await here.open(tab, "tool_x")
        await here.focus(TAB_B)
        assert await here.routed("tool_x") == TAB_B


@pytest.mark.document("MT-routing-4")
async def test_if_the_active_tab_lacks_the_tool_the_one_updated_last_gets_the_call() -> None:
    async with app() as here:
        for tab in (TAB_A, TAB_B):
            await here.register(tab, "tool_x")
        await here.open(TAB_C, "other")
        result = await _result(here)
        assert result["_meta"]["tabhub/tabId"] == TAB_B
        assert "tabhub/warning" not in result["_meta"]


@pytest.mark.document("MT-routing-5")
async def test_without_an_active_tab_the_one_updated_last_gets_the_call() -> None:
    async with app() as here:
        for tab in (TAB_A, TAB_B):
            await here.register(tab, "tool_x")
        result = await _result(here)
        assert result["_meta"]["tabhub/tabId"] == TAB_B
        assert "No tab is active" in result["_meta"]["tabhub/warning"]


@pytest.mark.document("MT-registry-2")
async def test_the_time_of_a_tab_is_that_of_its_last_activity() -> None:
    async with app() as here:
        await here.open(TAB_A, "tool_x")
        first = await _seen(here, TAB_A)
        await asyncio.sleep(0.02)
        await here.open(TAB_B, "tool_x")
        left = await _seen(here, TAB_A)
        assert left > first
        await asyncio.sleep(0.02)
        assert await _seen(here, TAB_A) == left, "nobody looks at it"
        assert await _seen(here, TAB_B) > left


async def _result(here: App) -> dict[str, Any]:
    calling = asyncio.ensure_future(here.agent.result(tool_name(ORIGIN, "tool_x")))
    await here.worker.answer(await here.worker.next(), {"content": []})
    return await calling


async def _seen(here: App, id: str) -> datetime:
    (entry,) = [tab for tab in await here.tabs() if tab["tabId"] == id]
    return datetime.fromisoformat(entry["lastSeen"])
