"""Demo shops in tabs of a person, in a browser with the extension or without, and an agent."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tabhub.cli.server.demo import serve_page
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import rig
from tests.support.browsers.page_tools import PageTools
from tests.support.browsers.plain import PlainBrowser, browser
from tests.support.serving import client, served

TOTAL = "document.querySelector('#total').textContent"


class Shops(PlainBrowser, PageTools):
    """A browser with the extension; no agent owns its tabs, so routing alone chooses among them."""

    def __init__(self, cdp: Cdp, site: str, port: int, agent: Agent) -> None:
        super().__init__(cdp, site, port)
        self.agent = agent

    @property
    def native(self) -> str:
        """The address of the shop that offers its tools by WebMCP."""
        return f"{self.site}/"

    @property
    def other(self) -> str:
        """The address of a page of the same site without tools."""
        return f"{self.site}/shop.css"

    async def number(self, page: str) -> int:
        """The tab id of a page."""
        look = "chrome.debugger.getTargets().then((all) => all.find((one) => one.id === %r).tabId)"
        found: int = await self.cdp.in_worker(look % page)
        return found

    async def tab(self, url: str | None = None, **more: Any) -> tuple[str, int]:
        """Open a page as a person does, by default the shop; the page and its tab id."""
        page = await self.open(url or self.native, **more)
        return page, await self.number(page)

    async def shops(self, count: int) -> list[tuple[str, int]]:
        """Open several shops and wait for their tools; the last one is active."""
        found = [await self.tab() for _ in range(count)]
        await self.have("view_cart", *(tab for _, tab in found))
        await self.looked_at(found[-1][1])
        return found

    async def bought(self, *pages: str) -> list[int]:
        """How many mugs are in the carts of these shops."""
        return [int(float(await self.until(page, TOTAL)) / 6) for page in pages]


@asynccontextmanager
async def shops(
    folder: Path, config: dict[str, Any] | None = None, *, paired: bool = False
) -> AsyncIterator[Shops]:
    with serve_page() as url:
        async with rig(folder, config or {}) as managed, managed.agent("robot") as agent:
            if paired:
                managed.allow_page(url)
            yield Shops(managed.cdp, url.rstrip("/"), managed.port, agent)


class WorkerShops(PlainBrowser, PageTools):
    """Shops of a browser without the extension, and an agent that uses their tools."""

    async def shops(self, count: int) -> list[tuple[str, str]]:
        """Pages and the ids of their tabs; the last one is active."""
        pages = [await self.open() for _ in range(count)]
        found = [(page, await self.connected(page)) for page in pages]
        await self.have("view_cart", *(tab for _, tab in found))
        await self.looked_at(found[-1][1])
        return found


@asynccontextmanager
async def worker_shops(folder: Path) -> AsyncIterator[WorkerShops]:
    with serve_page() as url:
        site = url.rstrip("/")
        async with (
            served() as server,
            browser(folder) as cdp,
            client(server.port) as http,
        ):
            server.app.pairing.confirm(site, None)
            here = WorkerShops(cdp, site, server.port)
            here.agent = Agent(http)
            yield here
