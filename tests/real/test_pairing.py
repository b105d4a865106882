"""An extension that nobody told where the server is: a person pairs it once, by hand."""

import asyncio
import shutil
from pathlib import Path

import pytest

from tabhub.browser.launcher.finder import find_browser
from tabhub.browser.launcher.installation import packaged_extension
from tabhub.browser.launcher.process import BrowserProcess
from tabhub.config.paths import Home
from tests.support.cdp import browser_of
from tests.support.product import Product

pytestmark = pytest.mark.real_browser
SHOWN_STATE = "document.querySelector('#state')?.textContent"
EXTENSION = "chrome-extension://bnijbchbpfemkjpdjnamphipeaejgjni"


@pytest.mark.requirement("TH-01")
async def test_port_and_secret_entered_once_connect_and_are_kept(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    elsewhere = Home(tmp_path / "elsewhere").create()
    shutil.copytree(packaged_extension(), elsewhere.managed_extension, dirs_exist_ok=True)
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        browser = await BrowserProcess.start(
            find_browser(),
            home=elsewhere,
            profile=elsewhere.profile,
            headless=True,
            extra_args=["--remote-debugging-port=0"],
        )
        try:
            async with browser_of(elsewhere.root) as cdp:
                await cdp.worker()
                page = await cdp.open(f"{EXTENSION}/options/options.html")
                while await cdp.evaluate(page, SHOWN_STATE) != "Not connected.":
                    await asyncio.sleep(0.02)
                await cdp.evaluate(
                    page,
                    f"const form = document.querySelector('form'); form.port.value = '{port}';"
                    f"form.secret.value = ' {product.secret} '; form.requestSubmit();",
                )
                (paired,) = product.wait_browser()["browsers"]
                await cdp.kill_worker()
                (back,) = product.wait_browser(after=paired["connectedAt"])["browsers"]
            assert back["id"] == paired["id"]
            assert back["kind"] == "personal"
        finally:
            await browser.stop()
