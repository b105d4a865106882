"""Pages with the worker library in a browser that has the extension too."""

from pathlib import Path

import pytest

from tabhub.cli.server.demo import serve_page
from tests.support.agent import Agent
from tests.support.browsers.managed import rig
from tests.support.browsers.page_tools import until
from tests.support.browsers.panel import panel_of
from tests.support.browsers.plain import PlainBrowser
from tests.support.eventually import eventually

pytestmark = pytest.mark.real_browser


@pytest.mark.requirement("MT-01")
async def test_a_page_asks_to_pair_is_admitted_by_its_code_and_removed_by_the_command_line(
    tmp_path: Path,
) -> None:
    with serve_page() as url:
        async with rig(tmp_path, {}) as managed:
            here = PlainBrowser(managed.cdp, url.rstrip("/"), managed.port)
            page = await here.open()
            code = (await here.status(page, "unpaired"))["code"]
            async with panel_of(managed.cdp) as panel:
                text = await panel.text("li[data-pairing]")
                assert here.site in text and code in text
                await panel.value("document.querySelector('[data-action=pair]').click()")
                assert (await here.status(page, "unpaired"))["code"] == code
                await panel.click("[data-action=pair]")
                await here.status(page, "connected")
                await panel.until(
                    "!document.querySelector('li[data-pairing]')", "the pairing request to go"
                )
                await panel.view("settings")
                level = "document.querySelector('li[data-page] select').value"
                assert await panel.value(level) == "auto"
            assert managed.product.run("page", "list").stdout == f"{here.site}: auto\n"
            managed.product.run("page", "forget", here.site)
            code = (await here.status(page, "unpaired"))["code"]
            assert code in managed.product.run("page", "allow", here.site, code).stdout
            await here.status(page, "connected")
        lines = [(line["plugin"], line["tool"], line["verdict"]) for line in managed.audit()]
        assert ("door", "knock at /page", "refused") in lines
        assert ("panel", "page.pair", "allowed") in lines
        assert ("admin", "page allow", "allowed") in lines


@pytest.mark.requirement("MT-08")
async def test_a_page_with_extension_and_worker_is_one_tab(tmp_path: Path) -> None:
    with serve_page() as url:
        async with rig(tmp_path, {}) as managed, managed.agent("robot") as agent:
            managed.allow_page(url)
            here = PlainBrowser(managed.cdp, url.rstrip("/"), managed.port)
            page = await here.open()
            id = await here.connected(page)
            found = await eventually(
                lambda: agent.result("list_browser_tabs"),
                until=lambda found: (
                    [type(entry["tabId"]) for entry in found["structuredContent"]] == [int]
                ),
            )
            (tab,) = found["structuredContent"]
            assert tab["url"] == here.shop and tab["title"] == "tabhub demo shop"
            name = await _named(agent, "view_cart")
            for arguments in ({}, {"tabId": tab["tabId"]}, {"tabId": id}):
                assert (await agent.call(name, **arguments))["total"] == 0


@pytest.mark.requirement("MB-01")
async def test_a_site_that_defines_its_tools_once_offers_them_by_webmcp_if_available(
    tmp_path: Path,
) -> None:
    with serve_page() as url:
        async with rig(tmp_path, {}) as managed, managed.agent("robot") as agent:
            await agent.call("browser_open_tab", url=url)
            name = await _named(agent, "search_products")
            assert "Filter coffee" in await agent.text(name, query="filter")
            await agent.call("browser_navigate_tab", url="about:blank")
            listed = (await agent.post("tools/list")).json()["result"]["tools"]
            assert name not in [tool["name"] for tool in listed]


async def _named(agent: Agent, ending: str) -> str:
    """The full name of a page's tool, once it is listed."""
    name: str = await until(
        agent, lambda tools: next((name for name in tools if name.endswith(f"_{ending}")), None)
    )
    return name
