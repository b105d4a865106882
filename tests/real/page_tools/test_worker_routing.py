"""Calls of an agent to pages without the extension: the four scenarios, and their errors."""

import re
import socket
from pathlib import Path

import pytest

from tabhub.cli.server.demo import serve_page
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.plain import browser
from tests.support.browsers.shops import WorkerShops, worker_shops
from tests.support.eventually import eventually
from tests.support.product import Product

pytestmark = pytest.mark.real_browser
OTHER_TOOL = """import("/pagekit/pagekit.js").then(({ WorkerClient }) => {
  const client = new WorkerClient({ url: %r });
  const names = (args) => Object.keys(args).join();
  return client.registerTool("other", "Does something else.", null, names).then(() => {
    return client.getTabId();
  });
})"""


@pytest.mark.requirement("MT-03")
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
async def test_when_the_active_tab_loses_the_tool_another_gets_the_call(
    tmp_path: Path,
) -> None:
    async with worker_shops(tmp_path) as here:
        (_, first), (second_page, second) = await here.shops(2)
        assert await here.used("view_cart") == second
        await here.value(second_page, f"location.href = '{here.site}/goods.js'")
        await here.have("view_cart", first)
        assert await here.used("view_cart") == first


@pytest.mark.requirement("MT-04")
async def test_the_list_of_tabs_has_every_field(tmp_path: Path) -> None:
    async with worker_shops(tmp_path) as here:
        (_, first), (second_page, second) = await here.shops(2)
        await here.value(
            second_page, "history.pushState(0, '', '/?new'); document.title = 'My shop'"
        )
        await eventually(
            here.tabs, until=lambda found: "My shop" in [tab["title"] for tab in found]
        )
        tabs = {tab["tabId"]: tab for tab in await here.tabs()}
        assert set(tabs) == {first, second}
        assert tabs[second]["url"] == f"{here.site}/?new"
        assert tabs[first]["url"] == here.shop and tabs[first]["title"] == "tabhub demo shop"
        assert tabs[second]["isActive"] and not tabs[first]["isActive"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", tabs[first]["lastSeen"])


@pytest.mark.requirement("MT-06")
async def test_a_missing_tab_or_tool_is_reported_with_the_available_ones(tmp_path: Path) -> None:
    async with worker_shops(tmp_path) as here:
        ((_, shop),) = await here.shops(1)
        page = await here.open(f"{here.site}/shop.css")
        other = await here.value(page, OTHER_TOOL % here.hub)
        name = (await here.tool("view_cart"))["name"]
        await here.have("other", other)
        for tab, reason in (("invalid-id", "tab_not_found"), (other, "no_tab_for_tool")):
            with pytest.raises(ToolFailed) as failed:
                await here.used("view_cart", tabId=tab)
            assert failed.value.reason == reason
            message = f"Tool '{name}' not available in tab '{tab}'. Available tabs: {shop}"
            assert failed.value.message == message


@pytest.mark.requirement("MT-06")
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


@pytest.mark.requirement("MT-05")
async def test_a_tool_is_listed_until_its_last_tab_goes(tmp_path: Path) -> None:
    async with worker_shops(tmp_path) as here:
        (first_page, _), (second_page, second) = await here.shops(2)
        await here.close(first_page)
        await here.have("view_cart", second)
        await here.close(second_page)
        await eventually(here.tabs, until=lambda found: not found)
        listed = (await here.agent.post("tools/list")).json()["result"]["tools"]
        assert not any(tool["name"].startswith("website_tool_") for tool in listed)


async def test_a_page_reconnects_after_a_server_restart(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    with serve_page() as url, socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        free.close()
        site = url.rstrip("/")
        async with browser(tmp_path) as cdp:
            here = WorkerShops(cdp, site, port)
            page = await here.open()
            await here.status(page, "waiting")
            for is_paired in (False, True):
                with product.running("start", "--port", str(port)):
                    product.wait_running()
                    if not is_paired:
                        assert product.run("page", "allow", site).returncode == 0
                    await here.show(page)
                    tab = await here.connected(page)
                    async with product.client(port) as http:
                        here.agent = Agent(http)
                        await here.have("view_cart", tab)
                        assert await here.used("add_to_cart", sku="mug") == tab
                        assert [entry["tabId"] for entry in await here.tabs()] == [tab]
                await here.status(page, "waiting")
            total = "document.querySelector('#total').textContent"
            assert await here.value(page, total) == "12.00"
