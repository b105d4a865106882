"""The test stand: a real server, a browser with both extensions, and a site to visit."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.browser.chromium import chromium
from bench.browser.floor import Floor, floor
from bench.caller import Caller
from tabhub.config.paths import Home
from tests.support.product import Product
from tests.support.site import Site, serving


@dataclass(frozen=True)
class Stand:
    """The server, browser and site of a measurement."""

    agent: Caller
    floor: Floor
    site: Site
    server_pid: int


@asynccontextmanager
async def stand() -> AsyncIterator[Stand]:
    with tempfile.TemporaryDirectory() as name, serving() as site:
        product = Product(Path(name) / "home")
        with product.running("start", "--port", "0") as server:
            port = product.wait_running()
            home = Home(product.home)
            async with floor(Path(name) / "floor") as lowest:
                with chromium(home, lowest.extension):
                    await lowest.connected()
                    product.wait_browser()
                    agent = await Caller.begin(port, product.secret)
                    yield Stand(agent, lowest, site, server.pid)
