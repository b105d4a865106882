"""A real browser without the extension, and the demo shop in it."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tabhub.browser.launcher.finder import find_browser
from tests.support.browsers.cdp import Cdp, browser_of
from tests.support.eventually import eventually

FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-popup-blocking",
    "--remote-debugging-port=0",
)
STATUS = "JSON.parse(document.querySelector('#hub').textContent || '{}')"
TAB_ID = "sessionStorage.getItem('tabhub.tabId')"


class PlainBrowser:
    """A browser without the extension, a site and a server."""

    def __init__(self, cdp: Cdp, site: str, port: int) -> None:
        self.cdp = cdp
        self.site = site
        self.hub = f"ws://127.0.0.1:{port}/page"

    @property
    def shop(self) -> str:
        """The address of the demo shop that uses the worker."""
        return f"{self.site}/?via=worker&hub={self.hub}"

    async def open(self, url: str | None = None, before: str = "", **more: Any) -> str:
        """Open the shop, or another page; `before` runs ahead of its own scripts."""
        if not before:
            return await self._created(url or self.shop, **more)
        page = await self._created("about:blank", **more)
        session = await self.attach(page)
        await self.cdp.send("Page.enable", session)
        await self.cdp.send("Page.addScriptToEvaluateOnNewDocument", session, source=before)
        await self.cdp.send("Page.navigate", session, url=url or self.shop)
        return page

    async def attach(self, page: str) -> str:
        attached = await self.cdp.send("Target.attachToTarget", targetId=page, flatten=True)
        session: str = attached["sessionId"]
        return session

    async def page(self, ending: str) -> str:
        """A page that another page opened, found by the end of its address."""

        async def look() -> str | None:
            targets = (await self.cdp.send("Target.getTargets"))["targetInfos"]
            pages = (target for target in targets if target["type"] == "page")
            return next((page["targetId"] for page in pages if page["url"].endswith(ending)), None)

        return await eventually(look, f"a page at {ending}")

    async def value(self, page: str, code: str) -> Any:
        return await self.cdp.evaluate(page, code)

    async def until(self, page: str, code: str) -> Any:
        """The value of an expression, as soon as it is true."""
        # The browser refuses during a navigation.
        return await eventually(lambda: self.value(page, code), code, ignore=(AssertionError,))

    async def status(self, page: str, state: str) -> dict[str, Any]:
        """The connection as the shop shows it, as soon as it is in this state."""
        code = f"(({STATUS}).state === {state!r}) && {STATUS}"
        found: dict[str, Any] = await self.until(page, code)
        return found

    async def connected(self, page: str) -> str:
        """Wait until the shop is connected; return the id of its tab."""
        await self.status(page, "connected")
        found: str = await self.value(page, TAB_ID)
        return found

    async def show(self, page: str) -> None:
        await self.cdp.send("Target.activateTarget", targetId=page)

    async def close(self, page: str) -> None:
        await self.cdp.send("Target.closeTarget", targetId=page)

    async def _created(self, url: str, **more: Any) -> str:
        """Create a page and wait until its address, not the blank page, is loaded."""
        target: str = (await self.cdp.send("Target.createTarget", url=url, **more))["targetId"]
        blank = url == "about:blank"
        await self.until(target, f"document.body && {blank:d} + (location.href !== 'about:blank')")
        return target


@asynccontextmanager
async def browser(folder: Path, *flags: str) -> AsyncIterator[Cdp]:
    """A browser with its own profile, without any extension."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    process = await asyncio.create_subprocess_exec(
        str(find_browser().path),
        *FLAGS,
        *sandbox,
        *flags,
        f"--user-data-dir={folder / 'profile'}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with browser_of(folder) as cdp:
            yield cdp
    finally:
        process.terminate()
        await process.wait()
