"""A stdio bridge that starts its own server and browser."""

import os
import signal
from pathlib import Path

import pytest

from tabhub.browser.launcher.profile import owner
from tabhub.browser.launcher.providing import open_in
from tabhub.config.paths import Home
from tests.cli.stdio.pipe import bridged
from tests.support.eventually import eventually_sync
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("OT-09")]


async def test_a_single_client_gets_a_server_and_a_browser_and_keeps_its_tab_after_a_kill(
    tmp_path: Path, site: Site
) -> None:
    home = Home(tmp_path / "home").create()
    product = Product(home.root)
    try:
        async with bridged(home, "--browser", "--headless") as pipe:
            await pipe.initialize()
            opened = await pipe.call("browser_open_tab", url=site.page("form"))
            assert opened["result"]["structuredContent"]["title"] == "Form"
            os.kill(product.status()["pid"], signal.SIGKILL)
            eventually_sync(lambda: not product.status()["running"], "the server to be gone")
            # The browser survives the first server, and connects to the second.
            ran = await pipe.call("browser_execute_script", code="document.title")
            assert ran["result"]["structuredContent"] == {"value": "Form"}
            assert await pipe.close() == 0
        assert product.status()["agents"] == 0
    finally:
        product.run("stop")
        browser = owner(home.profile)
        if browser is not None:
            os.killpg(browser, signal.SIGKILL)
            eventually_sync(lambda: not Path(f"/proc/{browser}").exists(), "the browser to end")


async def test_a_running_server_without_a_browser_gets_one_that_ends_with_it(
    tmp_path: Path, site: Site
) -> None:
    home = Home(tmp_path / "home").create()
    product = Product(home.root)
    with product.running("start", "--port", "0"):
        product.wait_running()
        async with bridged(home, "--browser", "--headless") as pipe:
            await pipe.initialize()
            opened = await pipe.call("browser_open_tab", url=site.page("form"))
            assert opened["result"]["structuredContent"]["title"] == "Form"
            async with bridged(home, "--browser", "--headless") as another:
                await another.initialize()
            assert len(product.status()["browsers"]) == 1
        product.run("stop")
        eventually_sync(lambda: open_in(home) is None, "the browser to leave")
