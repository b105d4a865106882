"""Which tab a page's tool runs in, in a real browser with the extension."""

import asyncio
from pathlib import Path

import pytest

from tests.support.agent import ToolFailed
from tests.support.browsers.shops import Shops, shops

pytestmark = pytest.mark.real_browser
MUG = {"sku": "mug"}
HANG = """document.modelContext.registerTool({
  name: "hang",
  description: "Does not end.",
  inputSchema: { type: "object", properties: {} },
  execute: () => {
    window.asked = true;
    return new Promise(() => {});
  },
})"""


@pytest.mark.requirement("MT-03")
@pytest.mark.document("MB-execution-3", "MT-scenario-4")
async def test_of_several_tabs_the_active_one_gets_the_call(tmp_path: Path) -> None:
    async with shops(tmp_path) as here:
        (first_page, first), (second_page, second) = await here.shops(2)
        for page, tab in ((first_page, first), (second_page, second), (first_page, first)):
            await here.show(page)
            await here.looked_at(tab)
            assert await here.used("add_to_cart", **MUG) == tab
        assert await here.bought(first_page, second_page) == [2, 1]


@pytest.mark.requirement("MT-03")
@pytest.mark.document("MT-scenario-2")
async def test_the_only_tab_with_a_tool_gets_the_call_in_the_background_too(tmp_path: Path) -> None:
    async with shops(tmp_path) as here:
        ((shop, tab),) = await here.shops(1)
        assert await here.used("add_to_cart", **MUG) == tab
        other, _ = await here.tab(here.other)
        await here.show(other)
        await here.looked_at(None)
        assert await here.used("add_to_cart", **MUG) == tab
        assert await here.bought(shop) == [2]
        assert await here.value(shop, "document.visibilityState") == "hidden"


@pytest.mark.requirement("MT-03")
@pytest.mark.document("MB-testing-3", "MT-scenario-6")
async def test_when_the_active_tab_navigates_away_another_gets_the_call(tmp_path: Path) -> None:
    async with shops(tmp_path) as here:
        (first_page, first), (second_page, second) = await here.shops(2)
        assert await here.used("add_to_cart", **MUG) == second
        await here.value(second_page, f"location.href = {here.other!r}")
        await here.have("view_cart", first)
        assert await here.used("add_to_cart", **MUG) == first
        assert await here.bought(first_page) == [1]
        await here.value(second_page, "history.back()")
        await here.have("view_cart", first, second)
        assert await here.used("add_to_cart", **MUG) == second


@pytest.mark.requirement("MT-03")
@pytest.mark.requirement("MT-06")
@pytest.mark.document("MT-practices-3")
async def test_a_named_tab_gets_the_call_and_no_other_replaces_it(tmp_path: Path) -> None:
    async with shops(tmp_path) as here:
        (first_page, first), (second_page, second) = await here.shops(2)
        assert await here.used("add_to_cart", **MUG, tabId=first) == first
        assert await here.bought(first_page, second_page) == [1, 0]
        _, other = await here.tab(here.other)
        name = (await here.tool("add_to_cart"))["name"]
        for tab, reason in ((99999999, "tab_not_found"), (other, "no_tab_for_tool")):
            with pytest.raises(ToolFailed) as failed:
                await here.used("add_to_cart", **MUG, tabId=tab)
            assert failed.value.reason == reason
            message = f"Tool '{name}' not available in tab '{tab}'. Available tabs: "
            assert failed.value.message.startswith(message)
            assert set(failed.value.error["tabs"]) == {first, second}
        assert await here.bought(first_page, second_page) == [1, 0]


@pytest.mark.requirement("MT-05")
@pytest.mark.document("MB-disconnect-2", "MT-lifecycle-6")
async def test_a_tool_without_a_tab_is_unknown(tmp_path: Path) -> None:
    async with shops(tmp_path) as here:
        (first_page, _), (second_page, second) = await here.shops(2)
        name = (await here.tool("view_cart"))["name"]
        await here.close(first_page)
        await here.have("view_cart", second)
        assert await here.used("view_cart") == second
        await here.close(second_page)
        await here.without("view_cart")
        call = {"name": name, "arguments": {}}
        answer = (await here.agent.post("tools/call", call)).json()
        assert answer["error"]["data"]["reason"] == "unknown_tool"


@pytest.mark.requirement("MT-03")
@pytest.mark.document("MB-testing-3", "MT-uses-6")
async def test_with_two_windows_the_tab_in_the_front_window_gets_the_call(tmp_path: Path) -> None:
    async with shops(tmp_path) as here:
        (first_page, first) = await here.tab()
        (second_page, second) = await here.tab(newWindow=True)
        await here.have("view_cart", first, second)
        for tab in (first, second, first):
            await focus(here, tab)
            await here.looked_at(tab)
            assert await here.used("add_to_cart", **MUG) == tab
        assert await here.bought(first_page, second_page) == [2, 1]
        await here.close(first_page)
        await here.have("view_cart", second)
        assert await here.used("add_to_cart", **MUG) == second


async def focus(here: Shops, tab: int) -> None:
    """Focus the window of a tab. Without a screen this works only after minimizing it."""
    window = await here.cdp.in_worker(f"chrome.tabs.get({tab}).then((tab) => tab.windowId)")
    for state in ("{ state: 'minimized' }", "{ state: 'normal', focused: true }"):
        await here.cdp.in_worker(f"chrome.windows.update({window}, {state}).then(() => 1)")


@pytest.mark.requirement("MB-08")
@pytest.mark.document("MB-execution-15")
@pytest.mark.parametrize("how", ["reload", "navigation", "crash", "closing"])
async def test_a_page_that_closes_during_a_call_may_have_received_it_and_no_other_is_called(
    tmp_path: Path, how: str
) -> None:
    async with shops(tmp_path) as here:
        pages = [await here.tab(here.other) for _ in range(2)]
        for page, _ in pages:
            await here.value(page, HANG)
        await here.have("hang", *(tab for _, tab in pages))
        (other, staying), (page, going) = pages
        await here.show(page)
        await here.looked_at(going)
        calling = asyncio.create_task(here.used("hang"))
        await here.until(page, "window.asked")
        await leave(here, page, how)
        with pytest.raises(ToolFailed) as failed:
            await calling
        assert failed.value.reason == "page_may_have_received"
        await here.have("hang", staying)
        assert await here.value(other, "window.asked") is None


async def leave(here: Shops, page: str, how: str) -> None:
    if how == "crash":
        await here.cdp.crash(page)
    elif how == "closing":
        await here.close(page)
    else:
        steps = {"reload": "location.reload()", "navigation": "location.href = '/goods.js'"}
        await here.value(page, f"void ({steps[how]})")


@pytest.mark.requirement("MB-09")
@pytest.mark.document("MB-principles-6")
async def test_a_crashed_tab_loses_its_tools_and_has_them_again_after_a_reload(
    tmp_path: Path,
) -> None:
    async with shops(tmp_path) as here:
        (first_page, first), (second_page, second) = await here.shops(2)
        await here.cdp.crash(second_page)
        await here.have("view_cart", first)
        assert await here.used("add_to_cart", **MUG) == first
        await here.cdp.in_worker(f"chrome.tabs.reload({second}).then(() => 1)")
        await here.have("view_cart", first, second)
        assert await here.used("add_to_cart", **MUG, tabId=second) == second
        assert await here.bought(first_page) == [1]
