"""An extension without a configured server: a person pairs it once, by hand."""

from pathlib import Path

import pytest

from tests.support.browsers.unpacked import OPTIONS, browser_with
from tests.support.eventually import eventually
from tests.support.product import Product

pytestmark = pytest.mark.real_browser
STATE = "document.querySelector('#state')?.textContent"


@pytest.mark.requirement("TH-01")
async def test_port_and_secret_entered_once_connect_and_are_kept(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        async with browser_with(tmp_path / "browser") as cdp:
            page = await cdp.open(OPTIONS)
            await eventually(lambda: cdp.evaluate(page, f"{STATE} === 'Not connected.'"), STATE)
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
