"""The address a page reports is limited to its own origin."""

import asyncio
from typing import Any

import pytest

from tabhub.config.settings import PermissionSettings, Settings
from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.origins import own_url
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, page_tool, tab
from tests.support.browsers.worker import ONE, SHOP, admitted, tool
from tests.support.serving import client, served

FORGED = (
    "https://bank.example/transfer?to=evil",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://shop.example@bank.example/",
    "https://shop.example:8443/",
    "http://shop.example/",
    "https://shop.example.evil.example/",
    "https://shop.example\\@bank.example/",
    " https://shop.example/",
    "https://shop.example/\u202e",
    "https://shop.example/a b",
    "https://shop.example/" + "x" * 3000,
    "",
)


@pytest.mark.document("MB-considerations-2")
@pytest.mark.parametrize("url", FORGED)
def test_an_address_that_is_not_the_pages_own_becomes_its_origin(url: str) -> None:
    assert own_url(url, SHOP) == SHOP


@pytest.mark.parametrize("rest", ["", "/", "/a?b=c#d", "?b", "#d", "/%20@x:1"])
def test_an_address_of_the_pages_own_origin_is_kept(rest: str) -> None:
    assert own_url(SHOP + rest, SHOP) == SHOP + rest


@pytest.mark.requirement("MB-09")
@pytest.mark.parametrize("url", FORGED[:3])
async def test_a_page_can_make_the_browser_open_only_its_own_site(url: str) -> None:
    levels = PermissionSettings(domains={"bank.example": "off", "shop.example": "auto"})
    async with (
        served(Settings(worker_origins=[SHOP], permissions=levels)) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(tab(1), kind="personal")
        async with admitted(server) as worker:
            cached = tool("view", annotations={"cache": True})
            await worker.register(ONE, cached, url=url, title="Bank\u202e\n\x1b[2J of all")
            (listed,) = (await Agent(http).result("list_browser_tabs"))["structuredContent"]
            assert (listed["url"], listed["title"]) == (SHOP, "Bank [2J of all")
        extension.page_tools["view"] = lambda call: "seen"
        calling = asyncio.create_task(Agent(http).text("website_tool_shop_example_view"))
        request = await extension.next("tool.dispatch")
        assert request["params"]["input"]["url"] == SHOP
        opened = {"output": tab(7, url=SHOP)}
        await extension.send({"id": request["id"], "result": opened})
        await extension.publish(7, cached, origin=SHOP)
        assert await calling == "seen"


async def test_an_address_reported_by_the_extension_is_limited_to_the_origin_too() -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        hints = {"cache": True}
        for url in ("about:srcdoc", "https://shop.example/deep?x#y"):
            document: dict[str, Any] = {"url": url, "documentId": "d"}
            await extension.publish(1, page_tool("view", annotations=hints), **document)
            page = server.app.hub.pages.storage.find(PageRef("link:profile-a", 1, 0, "d"))
            assert page is not None
            assert page.url == (SHOP if url.startswith("about") else url)
