"""The four scenarios of smart routing: in tabs without the extension, and in an agent's own."""

from pathlib import Path

import pytest

from tests.support.browsers.shops import Shops, shops, worker_shops

pytestmark = pytest.mark.real_browser
OTHER_TOOL = """import("/pagekit/pagekit.js").then(({ WorkerClient }) => {
  const client = new WorkerClient({ url: %r });
  const names = (args) => Object.keys(args).join();
  return client.registerTool("other", "Does something else.", null, names).then(() => {
    return client.getTabId();
  });
})"""


@pytest.mark.requirement("MT-03")
@pytest.mark.document("MT-scenario-1", "MT-scenario-2")
async def test_the_only_tab_with_a_tool_gets_the_call_active_or_not(tmp_path: Path) -> None:
    async with worker_shops(tmp_path) as here:
        ((_, shop),) = await here.shops(1)
        assert await here.used("view_cart") == shop
        page = await here.open(f"{here.site}/shop.css")
        other = await here.value(page, OTHER_TOOL % here.hub)
        await here.looked_at(other)
        assert await here.used("view_cart") == shop
        assert await here.used("other") == other


@pytest.mark.requirement("MT-03")
@pytest.mark.document("MT-scenario-3", "MT-scenario-4")
async def test_of_several_worker_tabs_the_active_one_gets_the_call(tmp_path: Path) -> None:
    async with worker_shops(tmp_path) as here:
        (first_page, first), (second_page, second) = await here.shops(2)
        assert await here.used("view_cart") == second
        await here.show(first_page)
        await here.looked_at(first)
        assert await here.used("view_cart") == first
        await here.show(second_page)
        await here.looked_at(second)
        assert await here.used("add_to_cart", sku="mug") == second
        total = "document.querySelector('#total').textContent"
        assert (
            await here.value(second_page, total) == "6.00"
            and await here.value(first_page, total) == "0.00"
        )


@pytest.mark.requirement("MT-03")
@pytest.mark.requirement("MT-04")
@pytest.mark.document("MT-scenario-5", "MT-schema-3")
async def test_a_named_tab_gets_the_call_and_the_page_never_sees_the_tab_id(tmp_path: Path) -> None:
    async with worker_shops(tmp_path) as here:
        (_, first), (_, second) = await here.shops(2)
        for tab in (first, second):
            assert await here.used("view_cart", tabId=tab) == tab
        properties = (await here.tool("view_cart"))["inputSchema"]["properties"]
        assert "list_browser_tabs" in properties["tabId"]["description"]
        page = await here.open(f"{here.site}/shop.css")
        other = await here.value(page, OTHER_TOOL % here.hub)
        name = (await here.tool("other"))["name"]
        assert await here.agent.text(name, tabId=other, more=1) == "more"


@pytest.mark.requirement("MT-03")
@pytest.mark.document("MT-scenario-6")
async def test_when_the_active_tab_loses_the_tool_another_gets_the_call(
    tmp_path: Path,
) -> None:
    async with worker_shops(tmp_path) as here:
        (_, first), (second_page, second) = await here.shops(2)
        assert await here.used("view_cart") == second
        await here.value(second_page, f"location.href = '{here.site}/goods.js'")
        await here.have("view_cart", first)
        assert await here.used("view_cart") == first


# The same with tabs that the agent has opened: there its own current tab wins over the focused one.


async def opened(here: Shops, url: str) -> int:
    tab: int = (await here.agent.call("browser_open_tab", url=url))["tabId"]
    return tab


async def own_shops(here: Shops, count: int) -> list[int]:
    tabs = [await opened(here, here.native) for _ in range(count)]
    await here.have("view_cart", *tabs)
    return tabs


@pytest.mark.document("MT-scenario-1", "MT-scenario-2")
@pytest.mark.requirement("MT-03")
async def test_the_only_tab_with_a_tool_gets_the_call_of_an_agent_that_is_elsewhere(
    tmp_path: Path,
) -> None:
    async with shops(tmp_path) as here:
        (shop,) = await own_shops(here, 1)
        assert await here.used("view_cart") == shop
        other = await opened(here, here.other)
        await here.agent.call("browser_focus_tab", tabId=other)
        assert await here.used("view_cart") == shop


@pytest.mark.document("MT-scenario-3", "MT-scenario-4")
@pytest.mark.requirement("MT-03")
async def test_of_several_own_tabs_the_one_that_the_agent_focuses_gets_the_call(
    tmp_path: Path,
) -> None:
    async with shops(tmp_path) as here:
        first, second = await own_shops(here, 2)
        for tab in (first, second, first):
            await here.agent.call("browser_focus_tab", tabId=tab)
            await here.looked_at(tab)
            assert await here.used("view_cart") == tab


@pytest.mark.requirement("MT-03")
@pytest.mark.document("MT-routing-6")
async def test_the_agents_own_tab_wins_over_the_one_that_the_person_looks_at(
    tmp_path: Path,
) -> None:
    async with shops(tmp_path) as here:
        page, persons = await here.tab()
        own = await opened(here, here.native)
        await here.have("view_cart", own, persons)
        await here.show(page)
        await here.looked_at(persons)
        assert await here.used("view_cart") == own
        assert await here.used("view_cart", tabId=persons) == persons
        assert await here.used("view_cart") == own


@pytest.mark.document("MT-scenario-5")
@pytest.mark.requirement("MT-03")
async def test_a_named_tab_of_several_own_ones_gets_the_call(tmp_path: Path) -> None:
    async with shops(tmp_path) as here:
        first, second = await own_shops(here, 2)
        for tab in (first, second):
            assert await here.used("view_cart", tabId=tab) == tab


@pytest.mark.document("MT-scenario-6")
@pytest.mark.requirement("MT-03")
async def test_when_the_agent_leaves_a_page_with_the_tool_its_other_tab_gets_the_call(
    tmp_path: Path,
) -> None:
    async with shops(tmp_path) as here:
        first, second = await own_shops(here, 2)
        assert await here.used("view_cart", tabId=first) == first
        assert await here.used("view_cart") == first
        await here.agent.call("browser_navigate_tab", tabId=first, url=here.other)
        await here.have("view_cart", second)
        assert await here.used("view_cart") == second
