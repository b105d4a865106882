"""`tabhub browser`, and the browser that `tabhub start --browser` brings along."""

import asyncio
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tabhub.browser.launcher.finder import find_browser
from tabhub.browser.launcher.installation import install_extension
from tabhub.browser.launcher.providing import BrowserOptions, ManagedBrowser, provide
from tabhub.cli import running
from tabhub.config import environment, secret, settings
from tabhub.config.paths import Home
from tabhub.errors import Unavailable

DEBUGGING = "--remote-debugging-"
DEBUGGED = (
    "WARNING: whoever reaches the browser's debugging port, pages and agents included, can do all "
    "that you can, approve calls too."
)
NO_DISPLAY = (
    "--headed needs a display, and there is none: neither DISPLAY nor WAYLAND_DISPLAY is set. "
    "Leave it out, or say --headless."
)
LOOK_SECONDS = 0.3


@dataclass(frozen=True)
class BrowserRequest:
    """The options of the browser to start."""

    headless: bool | None
    arguments: list[str]
    profile: Path | None

    @property
    def is_headless(self) -> bool:
        return not environment.has_display() if self.headless is None else self.headless

    def check(self) -> None:
        """Refuse what cannot be, before anything is started."""
        if self.headless is False and not environment.has_display():
            raise Unavailable(NO_DISPLAY)

    async def fulfil(
        self, home: Home, urls: list[str], *, lends: bool, leaves_with_server: bool = False
    ) -> ManagedBrowser:
        """Start it, or take the one that is there; the extension must have been installed."""
        if any(argument.startswith(DEBUGGING) for argument in self.arguments):
            print(DEBUGGED, file=sys.stderr)
        wanted = BrowserOptions(
            home=home,
            profile=(self.profile or home.profile).expanduser().absolute(),
            headless=self.headless,
            is_headless=self.is_headless,
            urls=urls,
            arguments=self.arguments,
            lends=lends,
            leaves_with_server=leaves_with_server,
        )
        return await provide(wanted, find_browser)


def how_started(browser: ManagedBrowser) -> str:
    """Whether the browser was started or found running, as a sentence."""
    kind = "headless browser" if browser.is_headless else "browser"
    if browser.manner == "started":
        return f"{kind.capitalize()} started (pid {browser.pid})."
    if browser.manner == "lent":
        return f"The {kind} that is open already (pid {browser.pid}) is used; it stays open."
    return f"The {kind} that an earlier run left behind (pid {browser.pid}) is used again."


def run(request: BrowserRequest, urls: list[str], *, while_server: bool = False) -> None:
    request.check()
    home = Home.from_environment().create()
    stored = secret.load(home)
    secret.prepare(home, stored.port if stored else settings.load(home).port)
    install_extension(home)
    if running.find(home) is None:
        print("No server is running; the browser connects as soon as `tabhub start` runs.")
    asyncio.run(_until_closed(request, home, urls, while_server))


async def _until_closed(
    request: BrowserRequest, home: Home, urls: list[str], while_server: bool
) -> None:
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    asked = asyncio.create_task(_asked(stopping, home if while_server else None))
    work = asyncio.create_task(_run_browser(request, home, urls, while_server))
    await asyncio.wait({work, asked}, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work


async def _asked(stopping: asyncio.Event, home: Home | None) -> None:
    """Come back at a signal, or when the server has been stopped: a killed one leaves its file."""
    while not stopping.is_set() and (home is None or home.pid.exists()):
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), None if home is None else LOOK_SECONDS)


async def _run_browser(
    request: BrowserRequest, home: Home, urls: list[str], while_server: bool
) -> None:
    browser = await request.fulfil(home, urls, lends=False, leaves_with_server=while_server)
    try:
        print(f"{how_started(browser)} Ctrl-C closes it.", flush=True)
        if await browser.wait() != 0:
            raise await browser.failure()
    finally:
        await browser.stop()


def show_path() -> None:
    home = Home.from_environment().create()
    stored = secret.load(home)
    secret.prepare(home, stored.port if stored else settings.load(home).port)
    print(install_extension(home))
