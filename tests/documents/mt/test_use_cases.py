"""The four use cases: one tab of several, all tabs, the focused tab, several screens."""

import asyncio

import pytest

from tests.documents.mt.app import DASHBOARD, ORIGIN, SETTINGS, TAB_A, TAB_B, app

pytestmark = pytest.mark.requirement("MT-03")
ANALYTICS = {"url": f"{ORIGIN}/analytics", "title": "Analytics - My App"}
TAB_C = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


@pytest.mark.document("MT-uses-1", "MT-uses-2")
async def test_an_agent_debugs_one_tab_while_the_person_works_in_another() -> None:
    async with app() as here:
        await here.open(TAB_B, "get_react_state", "analyze_component", page=SETTINGS)
        await here.open(TAB_A, "get_react_state", "analyze_component")
        (settings,) = [tab for tab in await here.tabs() if "Settings" in tab["title"]]
        assert not settings["isActive"]
        assert await here.routed("get_react_state", tabId=settings["tabId"]) == TAB_B
        sent = await here.call("analyze_component", tabId=settings["tabId"], component="UserForm")
        assert sent["params"]["tabId"] == TAB_B
        assert sent["params"]["args"] == {"component": "UserForm"}


@pytest.mark.document("MT-uses-3")
async def test_an_agent_compares_all_tabs_with_calls_at_the_same_time() -> None:
    async with app() as here:
        for tab in (TAB_A, TAB_B):
            await here.open(tab, "get_react_state")
        name = "website_tool_app_example_com_get_react_state"
        ids = [tab["tabId"] for tab in await here.tabs()]
        calls = [asyncio.ensure_future(here.agent.text(name, tabId=tab)) for tab in ids]
        for _ in ids:
            request = await here.worker.next()
            state = {"type": "text", "text": f"state of {request['params']['tabId']}"}
            await here.worker.answer(request, {"content": [state]})
        assert await asyncio.gather(*calls) == [f"state of {tab}" for tab in ids]


@pytest.mark.document("MT-uses-4")
async def test_what_is_on_this_page_is_answered_by_the_focused_tab() -> None:
    async with app() as here:
        for tab in (TAB_A, TAB_B):
            await here.open(tab, "get_page_info")
        for tab in (TAB_A, TAB_B):
            await here.focus(tab)
            assert await here.routed("get_page_info") == tab


@pytest.mark.document("MT-uses-5")
async def test_tabs_on_several_screens_are_reached_by_id_and_the_focused_one_without() -> None:
    screens = {
        TAB_B: ("get_metrics", ANALYTICS),
        TAB_C: ("update_settings", SETTINGS),
        TAB_A: ("show_alert", DASHBOARD),
    }
    async with app() as here:
        for tab, (name, page) in screens.items():
            await here.open(tab, name, "show_alert", page=page)
        assert await here.routed("get_metrics", tabId=TAB_B) == TAB_B
        assert await here.routed("update_settings", tabId=TAB_C) == TAB_C
        assert await here.routed("show_alert") == TAB_A
