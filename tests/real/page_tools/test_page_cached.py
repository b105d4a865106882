"""Tools that stay listed after their last tab closes, and open a tab when called."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.browsers.managed import rig
from tests.support.browsers.page_tools import TabId
from tests.support.browsers.shops import Shops
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("MB-09")]


@asynccontextmanager
async def pages(folder: Path, site: Site, config: dict[str, Any]) -> AsyncIterator[Shops]:
    async with rig(folder, config) as managed, managed.agent("robot") as agent:
        managed.allow_page(site.url)
        yield Shops(managed.cdp, site.url, managed.port, agent)


async def left(here: Shops, url: str, name: str) -> TabId:
    """Close the only tab with a tool, which stays listed."""
    page, tab = await here.tab(url)
    await here.tool(name)
    await here.close(page)
    await eventually(here.tabs, until=lambda found: not found)
    await here.tool(name)
    return tab


@pytest.mark.document("MB-disconnect-4")
async def test_a_tool_of_a_site_in_the_settings_stays_and_opens_its_page_when_called(
    tmp_path: Path, site: Site
) -> None:
    async with pages(tmp_path, site, {"cache": {urlsplit(site.url).netloc: True}}) as here:
        before = await left(here, site.page("tools"), "double")
        opened = await here.used("double", a=21)
        assert opened != before
        assert [(entry["tabId"], entry["url"]) for entry in await here.tabs()] == [
            (opened, site.page("tools"))
        ]
        answer = await here.agent.call((await here.tool("double"))["name"], a=21)
        assert answer == {"doubled": 42, "where": site.url}
        assert [entry["tabId"] for entry in await here.tabs()] == [opened]


@pytest.mark.document("MB-registration-10", "MB-security-8")
async def test_a_tool_that_declares_itself_cached_stays_and_others_of_its_page_go(
    tmp_path: Path, site: Site
) -> None:
    async with pages(tmp_path, site, {}) as here:
        url = f"{site.page('tools-cached')}?hub={here.hub}"
        before = await left(here, url, "where")
        await here.without("short")
        name = (await here.tool("where"))["name"]
        result = await here.agent.result(name)
        assert result["content"][0]["text"] == url
        assert result["_meta"]["tabhub/tabId"] != before
        await here.tool("short")
        assert [entry["url"] for entry in await here.tabs()] == [url]
        assert await here.agent.text(name) == url
