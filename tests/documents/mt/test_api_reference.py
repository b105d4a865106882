"""The methods of `WorkerClient` and `MCPController`."""

from pathlib import Path

import pytest

from tests.documents.mt.app import TAB_A, real_app
from tests.support.eventually import eventually

CONTROL = f"""(async () => {{
  const controller = new MCPController();
  const {{ port1, port2 }} = new MessageChannel();
  window.heard = [];
  port1.onmessage = ({{ data }}) => heard.push(data);
  await controller.handleRegisterTab({{ tabId: {TAB_A!r}, url: "/", title: "A" }}, port2);
  controller.handleSetActiveTab({{ tabId: {TAB_A!r} }});
  controller.handleSetActiveTab({{ tabId: null }});
}})()"""
pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("MT-01")]


@pytest.mark.document("MT-api-1", "MT-api-2", "MT-api-3")
async def test_a_page_knows_its_own_id_and_what_is_told_about_it(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        page, tab = await here.tab()
        await here.looked_at(tab)
        assert await here.value(page, "workerClient.getTabId()") == tab
        info = {
            "tabId": tab,
            "isActive": True,
            "url": here.address("dashboard"),
            "title": "Dashboard - My App",
        }
        assert await here.value(page, "workerClient.getTabInfo()") == info
        (entry,) = await here.tabs()
        assert {key: entry[key] for key in info} == info
        _, other = await here.tab("settings")
        await here.looked_at(other)
        await here.until(page, "!workerClient.getTabInfo().isActive")


@pytest.mark.document("MT-api-4")
async def test_a_cleared_id_is_replaced_when_the_page_is_refreshed(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        page, tab = await here.tab()
        await here.value(page, "WorkerClient.clearTabId(); window.isOld = true")
        assert await here.value(page, "workerClient.getTabId()") == tab, "until it is refreshed"
        await here.value(page, "location.reload()")
        await here.until(page, "!window.isOld")
        fresh = await here.ready(page)
        assert fresh != tab
        await here.have("get_page_info", fresh)


@pytest.mark.document("MT-api-5", "MT-api-6")
async def test_the_controller_registers_tabs_and_tracks_the_active_one(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        page, _ = await here.tab()
        await here.value(page, CONTROL)
        lists = "heard.filter(({ type }) => type === 'TAB_LIST_UPDATED').slice(-2)"
        active = f"{lists}.map(({{ tabs }}) => tabs.map(({{ isActive }}) => isActive))"
        await eventually(
            lambda: here.value(page, active), until=lambda found: found == [[True], [False]]
        )
        first = await here.value(page, "heard[0]")
        assert (first["type"], first["tabId"]) == ("TAB_REGISTERED", TAB_A)
