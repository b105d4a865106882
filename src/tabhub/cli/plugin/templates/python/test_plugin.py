"""Tests without a browser: tabhub plugin test."""

import pytest
from plugin import HEADINGS, PageInfo, ScaffoldName

from tabhub.sdk import PluginError
from tabhub.sdk.testing import FakePage


async def test_it_is_ready_in_a_loaded_page(plugin: ScaffoldName, page: FakePage) -> None:
    page.elements.add("body")
    assert await plugin.ready(page)


async def test_a_page_is_described(plugin: ScaffoldName, page: FakePage) -> None:
    page.evaluates(HEADINGS, ["Welcome back"])
    found = await plugin.get_page(page)
    assert found == PageInfo(await page.title(), page.url, ["Welcome back"])


async def test_something_of_the_site_is_read(plugin: ScaffoldName, page: FakePage) -> None:
    page.answer("GET", "/api/orders", json=[1, 2])
    assert await plugin.read_path(page, "/api/orders") == "[1,2]"


async def test_only_a_path_of_the_site_is_taken(plugin: ScaffoldName, page: FakePage) -> None:
    with pytest.raises(PluginError):
        await plugin.read_path(page, "https://elsewhere.example/")
    assert page.requests == []
