"""`tabhub browser`, and the browser that `tabhub start --browser` brings along."""

import asyncio
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tabhub.browser.finder import find_browser
from tabhub.browser.installation import install_extension
from tabhub.browser.process import BrowserProcess
from tabhub.cli import running
from tabhub.config import secret, settings
from tabhub.config.home import Home

DEBUGGING = "--remote-debugging-"
DEBUGGED = (
    "WARNING: whoever reaches the browser's debugging port, pages and agents included, can do all "
    "that you can, approve calls too."
)


@dataclass(frozen=True)
class BrowserWish:
    """What a person said about the browser to start."""

    headless: bool | None
    arguments: list[str]
    profile: Path | None

    @property
    def is_headless(self) -> bool:
        return not settings.has_display() if self.headless is None else self.headless

    async def fulfil(self, home: Home, urls: list[str]) -> BrowserProcess:
        """Start it; the extension must have been installed."""
        if any(argument.startswith(DEBUGGING) for argument in self.arguments):
            print(DEBUGGED, file=sys.stderr)
        return await BrowserProcess.start(
            await asyncio.to_thread(find_browser),
            home=home,
            profile=self.profile or home.profile,
            headless=self.is_headless,
            urls=urls,
            extra_args=self.arguments,
        )


def run(wish: BrowserWish, urls: list[str]) -> None:
    home = Home.from_environment().create()
    stored = secret.load(home)
    secret.prepare(home, stored.port if stored else settings.load(home).port)
    install_extension(home)
    if running.find(home) is None:
        print("No server is running; the browser connects as soon as `tabhub start` runs.")
    asyncio.run(_until_closed(wish, home, urls))


async def _until_closed(wish: BrowserWish, home: Home, urls: list[str]) -> None:
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    asked = asyncio.create_task(stopping.wait())
    work = asyncio.create_task(_run_browser(wish, home, urls))
    await asyncio.wait({work, asked}, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work


async def _run_browser(wish: BrowserWish, home: Home, urls: list[str]) -> None:
    browser = await wish.fulfil(home, urls)
    try:
        print(f"Browser started (pid {browser.pid}). Ctrl-C closes it.", flush=True)
        if await browser.wait() != 0:
            raise await browser.failure()
    finally:
        await browser.stop()
