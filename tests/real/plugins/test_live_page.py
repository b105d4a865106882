"""`live_page` of the testing kit: a test of a plugin with a page in a real browser."""

import asyncio
import json
from functools import partial
from pathlib import Path

import pytest

from tests.real.looking import html
from tests.support.eventually import PATIENCE
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

PLUGIN = """
from tabhub.sdk import Page, Plugin, tool

class Local(Plugin):
    match = ["http://127.0.0.1/*"]
    cookies = True
    scripts = ["add.js", "last.js"]

    @tool
    async def heading(self, page: Page) -> str:
        return await page.evaluate("document.querySelector('h1').textContent")
"""
TEST = """
import pytest
from tabhub.sdk import Page, PluginError, invoke

async def test_it(plugin, live_page: Page) -> None:
    page = live_page
    assert await invoke(plugin, "heading", {}, page) == "live"
    assert await page.title() == "Here"
    assert await page.has("h1") and not await page.has("h2")
    await page.wait_for("h1")
    await page.wait_for("h2", gone=True)
    with pytest.raises(PluginError, match="did not appear"):
        await page.wait_for("h2", seconds=0.1)
    assert await page.get("/bytes", into=bytes) == bytes(range(256))
    echoed = await page.post("/echo", json={"a": "ä"}, headers={"X-Own": "1"})
    assert '{"a":"ä"}' in echoed and "X-Own: 1" in echoed
    assert bytes(9).decode() in await page.post("/echo", data=bytes(9))
    assert (await page.request("GET", "/nowhere")).status == 404
    async with page.stream("GET", "/bytes") as response:
        assert b"".join([chunk async for chunk in response]) == bytes(range(256))
    await page.storage.set("k", "v")
    assert await page.storage.get("k") == "v" and "k" in await page.storage.keys()
    await page.storage.remove("k")
    assert await page.storage.get("k") is None and await page.session_storage.keys() == []
    await page.evaluate("(text) => { document.cookie = text; }", "seen=1")
    assert {cookie.name: cookie.value for cookie in await page.cookies()}["seen"] == "1"
    assert await page.evaluate("async (a, b) => a + b", 1, 2) == 3
    assert await page.run("add.js", 1, 2) == 3
    assert await page.run("last.js", 4) == 4
    with pytest.raises(PluginError, match="mine"):
        await page.evaluate("(() => { throw new Error('mine'); })()")
    page.log.info("fine")
    await page.progress(1)
    await page.open("/html?body=%3Ctitle%3EThere%3C/title%3E")
    assert await page.title() == "There" and page.url.endswith("There%3C/title%3E")
"""


async def _tested(product: Product, folder: Path, *arguments: str) -> str:
    # It is a whole run of pytest, with many operations in a browser.
    run = partial(product.run, timeout=3 * PATIENCE)
    done = await asyncio.to_thread(run, "plugin", "test", str(folder), *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _close_tabs(product: Product) -> None:
    """Close what the command line has open: other tests may have left a page of the site."""
    listed = product.run("tool", "call", "browser_list_tabs").stdout
    for tab in json.loads(listed)["structuredContent"]["tabs"]:
        if tab["usable"]:
            product.run("tool", "call", "browser_close_tab", f"tabId:={tab['tabId']}")


@pytest.mark.requirement("TH-10", "TH-12")
async def test_a_plugin_is_tested_with_a_page_in_the_browser(
    product: tuple[Product, int], site: Site, tmp_path: Path
) -> None:
    (tmp_path / "plugin.py").write_text(PLUGIN)
    (tmp_path / "test_plugin.py").write_text(TEST)
    (tmp_path / "add.js").write_text("__tabhub.run(async (a, b) => a + b);")
    (tmp_path / "last.js").write_text("__tabhub.args[0];")
    address = html(site, "<title>Here</title><h1>live</h1>")
    assert "1 passed" in await _tested(product[0], tmp_path, "--live-url", address)
    _close_tabs(product[0])
    skipped = await _tested(product[0], tmp_path, "--", "-rs")
    assert "1 skipped" in skipped
