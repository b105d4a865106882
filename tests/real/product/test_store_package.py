"""The package of a store in a real browser: rare permissions are asked for when first needed."""

import asyncio
import json
import zipfile
from functools import partial
from pathlib import Path

import pytest

from scripts.extension_package import write_package
from tabhub.browser.launcher.installation import packaged_extension
from tests.support.agent import Agent
from tests.support.browsers.panel import panel_of
from tests.support.browsers.unpacked import browser_with, paired
from tests.support.product import Product
from tests.support.site import serving

pytestmark = pytest.mark.real_browser
BANNER = "#banner [data-action='permission-allow']"


def unpack_over(package: Path, extension: Path) -> None:
    """Put the package where the extension was, with the key, so that it has the same id."""
    key = json.loads((extension / "manifest.json").read_text())["key"]
    with zipfile.ZipFile(package) as opened:
        opened.extractall(extension)
    manifest = extension / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "key": key}))


async def test_a_rare_permission_is_asked_for_by_a_press_at_its_first_use(
    own: Product, tmp_path: Path
) -> None:
    package = write_package(packaged_extension(), tmp_path / "build")
    own.home.mkdir(mode=0o700)
    levels = {"permissions": {"tools": {"browser_clear_site_data": "auto"}}}
    (own.home / "config.json").write_text(json.dumps(levels))
    with serving() as site, own.running("start", "--port", "0"):
        pair = paired(own.wait_running(), own.secret)

        def as_in_store(extension: Path) -> None:
            unpack_over(package, extension)
            pair(extension)

        async with browser_with(tmp_path / "browser", as_in_store) as cdp:
            port = own.wait_browser()["port"]
            async with own.client(port) as http, panel_of(cdp) as panel:
                agent = Agent(http)
                await agent.call("browser_open_tab", url=site.page("targets"))
                assert await cdp.in_worker("typeof chrome.browsingData") == "undefined"
                # The browser gives this one without a dialog, which no test could press.
                clear = partial(agent.result, "browser_clear_site_data", origin=site.url)
                clearing = asyncio.create_task(clear())
                assert "clear the stored data of a site" in await panel.text("#banner")
                assert not clearing.done()
                await panel.click(BANNER)
                result = await clearing
                assert not result.get("isError"), result
                assert await cdp.in_worker("typeof chrome.browsingData") == "object"
                await panel.until("!document.querySelector('#banner').innerText", "no banner")
                again = await clear()
                assert not again.get("isError"), again
                declined = asyncio.create_task(agent.result("browser_search_history", query="x"))
                assert "search your history" in await panel.text("#banner")
                await panel.click("#banner [data-action='decline']")
                error = (await declined)["structuredContent"]["error"]
                assert error["reason"] == "permission_denied"
