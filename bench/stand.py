"""The real thing, set up for measuring: server, browser, both extensions, a site to visit."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.caller import Caller
from bench.chromium import chromium
from bench.floor import Floor, floor
from tabhub.config.paths import Home
from tests.support.product import Product
from tests.support.site import Site, serving


@dataclass(frozen=True)
class Stand:
    """What a figure needs."""

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
