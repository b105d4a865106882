"""The real extension in a real browser, with a double of the server behind it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.support.browsers.cdp import Cdp
from tests.support.browsers.unpacked import browser_with, paired
from tests.support.eventually import eventually
from tests.support.scripted_server import SECRET, ScriptedServer, names, scripted
from tests.support.site import Site, serving

REGISTER, UPDATE = "browser/registerTools", "browser/updateTools"
UNREGISTER = "browser/unregisterTools"
WITHOUT_WEBMCP = "--disable-features=WebMCP"


class Bench:
    """A browser whose extension talks to a double of the server."""

    def __init__(self, server: ScriptedServer, cdp: Cdp, site: Site) -> None:
        self.server = server
        self.cdp = cdp
        self.site = site
        self._pages = count(1)

    async def open(self, page: str, tool: str = "double") -> tuple[str, dict[str, Any]]:
        """Open a page; return it and the registration, of it or a frame, that has this tool."""
        start = len(self.server.received)
        target = await self.cdp.open(f"{self.site.page(page)}?{next(self._pages)}")
        return target, await self.tools(tool, start)

    async def tools(self, tool: str, start: int = 0) -> dict[str, Any]:
        """The registration of the page that has a tool, even if the tool came with an update."""

        def fits(message: dict[str, Any]) -> bool:
            return "Tools" in message.get("method", "") and tool in names(message["params"])

        found = (await self.server.until(fits, start))["params"]
        known = await self.server.params_of(REGISTER, documentId=found["documentId"])
        return {**known, **found}


@asynccontextmanager
async def extension_with(server: ScriptedServer, folder: Path, *flags: str) -> AsyncIterator[Cdp]:
    """A browser whose extension has connected to the double."""
    async with (
        scripted(server),
        browser_with(folder, paired(server.port, SECRET), *flags) as cdp,
    ):
        await server.connected()
        yield cdp


@asynccontextmanager
async def bench(folder: Path, *flags: str) -> AsyncIterator[Bench]:
    server = ScriptedServer()
    async with extension_with(server, folder, *flags) as cdp:
        await server.params_of("tab.syncAll")
        with serving() as site:
            yield Bench(server, cdp, site)


async def happens(made: Bench, target: str, code: str) -> None:
    """Wait until an expression is true in a page."""
    await eventually(lambda: made.cdp.evaluate(target, f"Boolean({code})"), code)
