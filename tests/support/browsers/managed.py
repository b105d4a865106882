"""A product with its own real browser, and agents with separate tokens."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.cdp import Cdp, browser_of
from tests.support.eventually import eventually
from tests.support.http_client import client_of
from tests.support.product import Product

START = ("start", "--port", "0", "--browser", "--headless")
DEBUGGED = "--browser-arg=--remote-debugging-port=0"
CONFIG = {"permissions": {"tools": {"browser_execute_script": "ask"}}}


class Rig:
    """A running server, its browser, and the agents that use them."""

    def __init__(self, product: Product, port: int, cdp: Cdp) -> None:
        self.product = product
        self.port = port
        self.cdp = cdp

    def http(self, token: str) -> httpx.AsyncClient:
        return client_of(self.port, token)

    @property
    def downloads(self) -> Path:
        """The folder into which the browser saves."""
        return self.product.home.parent / "downloads"

    def setting(self, *path: str) -> Any:
        """A part of the server's settings, as its file has them; {} if it is not there."""
        found: Any = json.loads((self.product.home / "config.json").read_text())
        for name in path:
            found = found.get(name, {})
        return found

    @asynccontextmanager
    async def agent(self, name: str) -> AsyncIterator[Agent]:
        """An agent with its own token."""
        async with self.http(self.product.run("client", "add", name).stdout.strip()) as http:
            yield Agent(http)

    def allow_page(self, url: str) -> None:
        """Let the next page of this origin offer its tools without the extension."""
        allowed = self.product.run("page", "allow", url)
        assert allowed.returncode == 0, allowed.stderr

    def audit(self) -> list[dict[str, Any]]:
        return self.product.audit()


def desktop_with_downloads(folder: Path) -> Path:
    """Desktop settings, for `XDG_CONFIG_HOME`: browsers save into the test's own folder."""
    settings = folder / "desktop"
    settings.mkdir()
    (folder / "downloads").mkdir()
    (settings / "user-dirs.dirs").write_text(f'XDG_DOWNLOAD_DIR="{folder / "downloads"}"\n')
    return settings


@contextmanager
def managed_product(
    folder: Path, config: dict[str, Any], *more: str, **environment: str
) -> Iterator[tuple[Product, int]]:
    """A running product with its browser, and its port; several tests can use it."""
    product = Product(folder / "home")
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text(json.dumps(config))
    product.environment |= {"XDG_CONFIG_HOME": str(desktop_with_downloads(folder)), **environment}
    with product.running(*START, DEBUGGED, *more):
        yield product, product.wait_browser()["port"]


@asynccontextmanager
async def rig(folder: Path, config: dict[str, Any] = CONFIG, *more: str) -> AsyncIterator[Rig]:
    with managed_product(folder, config, *more) as (product, port):
        async with browser_of(product.home) as cdp:
            yield Rig(product, port, cdp)


def started(call: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    return asyncio.create_task(call)


async def at_work(agent: Agent, tab: int) -> None:
    """Wait until a script in that tab reports that it runs, by the title."""
    await eventually(
        lambda: agent.call("browser_list_tabs"),
        until=lambda found: (tab, "at work") in [(t["tabId"], t["title"]) for t in found["tabs"]],
    )


async def failure(call: "asyncio.Task[Any]") -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await call
    return failed.value
