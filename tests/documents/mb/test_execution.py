"""Where a call runs, how long it may take, and what happens when its tab goes."""

import asyncio
from typing import Any

import pytest

from tabhub.config.settings import Limits, Settings
from tabhub.hub.tools import PAGE_LABEL
from tests.documents.mb.shops import BANK, Sites, sites
from tests.page_tools.shop import SEARCH, answer_open, answering
from tests.support.agent import ToolFailed
from tests.support.browsers.extension import Refusal, page_tool

CACHED = page_tool("search", annotations={"cache": True, "readOnlyHint": True})


@pytest.mark.document("MB-execution-6")
async def test_without_a_stored_address_the_new_tab_opens_the_site() -> None:
    async with sites(1) as here:
        await here.extension.publish(1, CACHED, url="", tabUrl="")
        await here.close(1)
        here.extension.page_tools["search"] = answering("found")
        calling = asyncio.create_task(here.agent.text(SEARCH))
        assert await answer_open(here.extension, 5, CACHED) == "https://shop.example"
        assert await calling == "found"


@pytest.mark.document("MB-execution-19")
async def test_a_tool_of_another_site_gets_a_tab_of_its_own() -> None:
    async with sites(1, 2) as here:
        await here.extension.publish(1, CACHED)
        await here.close(1)
        await here.extension.publish(2, page_tool("pay"), origin=BANK)
        here.extension.page_tools["pay"] = answering("paid")
        await here.agent.text("website_tool_bank_example_pay")
        here.extension.page_tools["search"] = lambda call: answering(call["tabId"])(call)
        calling = asyncio.create_task(here.agent.text(SEARCH))
        assert await answer_open(here.extension, 5, CACHED) == "https://shop.example/1"
        assert await calling == "5"


@pytest.mark.document("MB-execution-17")
async def test_a_tab_that_closes_before_it_got_the_call_is_opened_again() -> None:
    async with sites(1) as here:
        await here.extension.publish(1, CACHED)

        def answer(call: dict[str, Any]) -> Any:
            if call["tabId"] == 1:
                raise Refusal("tab_not_found")
            return answering("in a new tab")(call)

        here.extension.page_tools["search"] = answer
        calling = asyncio.create_task(here.agent.text(SEARCH))
        await here.extension.next("browser/executeTool")
        await here.extension.notify("tab.stateChanged", {"tabId": 1, "state": "closed"})
        await answer_open(here.extension, 5, CACHED)
        assert await calling == "in a new tab"


@pytest.mark.document("MB-execution-13")
async def test_a_page_has_ten_seconds_unless_it_reports_progress() -> None:
    assert Limits().page_call_seconds == 10
    settings = Settings(limits=Limits(page_call_seconds=0.4))
    async with sites(1, settings=settings) as here:
        await here.extension.publish(1, page_tool("search"))
        calling = asyncio.create_task(here.agent.text(SEARCH))
        request = await here.extension.next("browser/executeTool")
        for step in range(5):
            await asyncio.sleep(0.2)
            progress = {"dispatchId": request["params"]["callId"], "progress": step}
            await here.extension.notify("tool.progress", progress)
        result = {"success": True, "payload": "done"}
        await here.extension.send({"id": request["id"], "result": result})
        assert await calling == "done"
        with pytest.raises(ToolFailed) as failed:
            await here.agent.text(SEARCH)
        assert failed.value.reason == "timeout"


@pytest.mark.document("MB-disconnect-5")
async def test_a_tab_that_closes_changes_nothing_about_the_others_of_its_site() -> None:
    second = "website_tool_shop_example_tab2_search"
    async with sites(1, 2, settings=Settings(exposure="per-tab")) as here:
        for number in (1, 2):
            await here.extension.publish(number, page_tool("search"))
        await _activate(here, 1)
        before = here.listed()[second]
        await here.close(1)
        assert here.listed() == {second: before}
        await _activate(here, 2)
        about = f"[shop.example • Tab 2 Active] {PAGE_LABEL}Does search."
        assert here.listed() == {second: about}


async def _activate(here: Sites, number: int) -> None:
    front = {"tabId": number, "active": True, "focusedWindow": True, "url": "https://shop.example/"}
    news = {"tabId": number, "state": "activated", "tab": front}
    await here.extension.ask("tab.stateChanged", news)
