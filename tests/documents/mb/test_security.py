"""Sites are kept apart, calls are recorded, and a tool acts with the sign-in of its page."""

import time
from pathlib import Path
from statistics import median

import pytest

from tests.documents.mb.shops import BANK, SHOP, sites
from tests.page_tools.shop import SEARCH, answering
from tests.support.browsers.extension import page_tool
from tests.support.browsers.shops import shops

SIGNED_IN = """document.cookie = "session=ada";
document.modelContext.registerTool({
  name: "who", description: "Who is signed in.", inputSchema: { type: "object", properties: {} },
  execute: async () => document.cookie,
})"""


@pytest.mark.document("MB-security-7")
async def test_the_same_tool_of_two_sites_is_two_tools() -> None:
    async with sites(1, 2) as here:
        for number, origin in ((1, SHOP), (2, BANK)):
            await here.extension.publish(number, page_tool("search"), origin=origin)
        assert {*here.listed()} == {SEARCH, "website_tool_bank_example_search"}
        here.extension.page_tools["search"] = lambda call: answering(call["tabId"])(call)
        assert await here.agent.text(SEARCH) == "1"
        assert await here.agent.text("website_tool_bank_example_search") == "2"
        await here.close(1)
        assert {*here.listed()} == {"website_tool_bank_example_search"}


@pytest.mark.document("MB-security-9")
async def test_a_call_is_recorded_with_its_tab_and_its_site() -> None:
    async with sites(1) as here:
        await here.extension.publish(1, page_tool("search"))
        here.extension.page_tools["search"] = answering("found")
        await here.agent.text(SEARCH, word="tea")
        entries = (await here.agent.http.get("/audit")).json()
        (call,) = [entry for entry in entries if entry["tool"] == SEARCH]
        assert (call["tabId"], call["plugin"]) == (1, "shop.example")
        assert call["arguments"] == {"word": "tea"} and call["success"]


@pytest.mark.real_browser
@pytest.mark.document("MB-execution-12")
async def test_a_tool_acts_with_the_cookies_of_its_page(tmp_path: Path) -> None:
    async with shops(tmp_path) as here:
        page, tab = await here.tab(here.other)
        await here.value(page, SIGNED_IN)
        await here.have("who", tab)
        name = (await here.tool("who"))["name"]
        assert await here.agent.text(name) == "session=ada"


@pytest.mark.document("MB-testing-8")
@pytest.mark.real_browser
async def test_a_round_trip_takes_less_than_half_a_second(tmp_path: Path) -> None:
    async with shops(tmp_path) as here:
        await here.shops(1)
        name = (await here.tool("view_cart"))["name"]
        durations = []
        for _ in range(11):
            begin = time.perf_counter()
            await here.agent.text(name)
            durations.append(time.perf_counter() - begin)
    assert median(durations) < 0.5
