"""What a measurement needs: a real server, a browser with both extensions, and a site to visit."""

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.browser.chromium import chromium
from bench.browser.minimal_extension import MinimalExtension, serve_minimal
from bench.caller import Caller
from tabhub.config.paths import Home
from tests.support.product import Product
from tests.support.site import Site, serving


@dataclass(frozen=True)
class BrowserSetup:
    """The server, browser and site of a measurement."""

    agent: Caller
    minimal: MinimalExtension
    site: Site
    server_pid: int
    browser_group: int
    product: Product


@asynccontextmanager
async def browser_setup(
    prepare: Callable[[Home], None] = lambda home: None,
) -> AsyncIterator[BrowserSetup]:
    """`prepare` gets the server's home before it starts."""
    with tempfile.TemporaryDirectory() as name, serving() as site:
        product = Product(Path(name) / "home")
        prepare(Home(product.home).create())
        with product.running("start", "--port", "0") as server:
            port = product.wait_running()
            home = Home(product.home)
            async with serve_minimal(Path(name) / "minimal") as minimal:
                with chromium(home, minimal.extension) as group:
                    await minimal.connected()
                    product.wait_browser()
                    agent = await Caller.begin(port, product.secret)
                    yield BrowserSetup(agent, minimal, site, server.pid, group, product)
