"""Pages without the extension when the server ends and starts again."""

import socket
from pathlib import Path

import pytest

from tabhub.cli.server.demo import serve_page
from tests.support.agent import Agent
from tests.support.browsers.plain import browser
from tests.support.browsers.shops import WorkerShops
from tests.support.product import Product

pytestmark = pytest.mark.real_browser


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
