"""`tabhub browser`, and the browser that `tabhub start --browser` brings along."""

import asyncio
import signal
from dataclasses import dataclass
from pathlib import Path

from tabhub.browser.finder import find_browser
from tabhub.browser.installation import install_extension
from tabhub.browser.process import BrowserProcess
from tabhub.cli import running
from tabhub.config import secret, settings
from tabhub.config.home import Home


@dataclass(frozen=True)
class BrowserWish:
    """What a person said about the browser to start."""

    headless: bool | None
    arguments: list[str]
    profile: Path | None

    async def fulfil(self, home: Home, urls: list[str]) -> BrowserProcess:
        headless = not settings.has_display() if self.headless is None else self.headless
        install_extension(home)
        return await BrowserProcess.start(
            find_browser(),
            home=home,
            profile=self.profile or home.profile,
            headless=headless,
            urls=urls,
            extra_args=self.arguments,
        )


def run(wish: BrowserWish, urls: list[str]) -> None:
    home = Home.from_environment().create()
    stored = secret.load(home)
    secret.prepare(home, stored.port if stored else settings.load(home).port)
    if running.find(home) is None:
        print("No server is running; the browser connects as soon as `tabhub start` runs.")
    asyncio.run(_until_closed(wish, home, urls))


async def _until_closed(wish: BrowserWish, home: Home, urls: list[str]) -> None:
    browser = await wish.fulfil(home, urls)
    print(f"Browser started (pid {browser.pid}). Ctrl-C closes it.", flush=True)
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    closed = asyncio.create_task(browser.wait())
    asked = asyncio.create_task(stopping.wait())
    await asyncio.wait({closed, asked}, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    await browser.stop()
