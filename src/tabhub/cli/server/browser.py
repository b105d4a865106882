"""`tabhub browser`, and the browser of `tabhub start --browser`."""

import asyncio
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tabhub.browser.launcher.finder import find_browser
from tabhub.browser.launcher.installation import install_extension
from tabhub.browser.launcher.keeping import KeptBrowser
from tabhub.browser.launcher.providing import BrowserOptions, ManagedBrowser, provide
from tabhub.cli import port_holder, running
from tabhub.cli.own_program import command_text
from tabhub.cli.waiting import WaitingLine
from tabhub.config import environment, secret, settings
from tabhub.config.paths import Home
from tabhub.errors import Forbidden, Unavailable
from tabhub.system.signals import on_stop
from tabhub.tools.files import Files, OwnFiles, ToolFolders

DEBUGGING_FLAG = "--remote-debugging-"
DEBUGGING_WARNING = (
    "WARNING: any program that reaches the browser's debugging port can do everything that you "
    "can, including approving calls."
)
NO_DISPLAY = (
    "--headed needs a display, and there is none: neither DISPLAY nor WAYLAND_DISPLAY is set. "
    "Omit it, or use --headless."
)
POLL_SECONDS = 0.3


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
        """Refuse impossible options before anything is started."""
        if self.headless is False and not environment.has_display():
            raise Unavailable(NO_DISPLAY)

    async def fulfil(
        self, home: Home, urls: list[str], *, lends: bool, leaves_with_server: bool = False
    ) -> ManagedBrowser:
        """Start a browser, or use the open one; the extension must be installed already."""
        if any(argument.startswith(DEBUGGING_FLAG) for argument in self.arguments):
            print(DEBUGGING_WARNING, file=sys.stderr)
        request = BrowserOptions(
            home=home,
            profile=(self.profile or home.profile).expanduser().absolute(),
            headless=self.headless,
            is_headless=self.is_headless,
            urls=urls,
            arguments=self.arguments,
            lends=lends,
            leaves_with_server=leaves_with_server,
            downloads=_download_folder(home),
        )
        return await provide(request, find_browser)


def _download_folder(home: Home) -> Path | None:
    """The folder of the settings; if tools may not use it, the browser keeps its own."""
    folders = ToolFolders(home, settings.load(home))
    own = OwnFiles((home.root, Home.default().root))
    with suppress(Forbidden):
        return Files(folders.browser_downloads, own).folder
    return None


def how_started(browser: ManagedBrowser) -> str:
    """Whether the browser was started or found running, as a sentence."""
    kind = "headless browser" if browser.is_headless else "browser"
    if browser.manner == "started":
        return f"{kind.capitalize()} started (pid {browser.pid})."
    if browser.manner == "lent":
        return f"Using the {kind} that is already open (pid {browser.pid}); it stays open."
    return f"Using the {kind} that an earlier run left behind (pid {browser.pid})."


def run(request: BrowserRequest, urls: list[str], *, while_server: bool = False) -> None:
    request.check()
    home = Home.from_environment().create()
    prepared_extension(home)
    if running.find(home) is None:
        start = command_text("start")
        print(f"No server is running; the browser connects as soon as `{start}` runs.")
        if in_its_way := port_holder.taken(home):
            print(f"But no server can start: {in_its_way}", file=sys.stderr)
    asyncio.run(_until_closed(request, home, urls, while_server))


async def _until_closed(
    request: BrowserRequest, home: Home, urls: list[str], while_server: bool
) -> None:
    stopping = asyncio.Event()
    on_stop(stopping.set)
    stopped = asyncio.create_task(_stopped(stopping, home if while_server else None))
    work = asyncio.create_task(_run_browser(request, home, urls, while_server))
    await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work


async def _stopped(stopping: asyncio.Event, home: Home | None) -> None:
    """Return at a signal, or once the server was stopped: a killed one leaves its pid file."""
    while not stopping.is_set() and (home is None or home.pid.exists()):
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), None if home is None else POLL_SECONDS)


async def _run_browser(
    request: BrowserRequest, home: Home, urls: list[str], while_server: bool
) -> None:
    fulfil = partial(request.fulfil, home, lends=False, leaves_with_server=while_server)
    # Pages that made it crash are not opened again.
    with WaitingLine("Starting the browser"):
        browser = await fulfil(urls=urls)
    kept = KeptBrowser(browser, partial(fulfil, urls=[]))
    try:
        print(f"{how_started(kept.browser)} Ctrl-C closes it.", flush=True)
        end = await kept.run()
        if await kept.browser.wait() != 0:
            raise end
    finally:
        await kept.stop()


def show_path() -> None:
    """`tabhub extension path`: install the extension's files and print their folder."""
    print(prepared_extension(Home.from_environment().create()))


def prepared_extension(home: Home) -> Path:
    """Install the extension's files, with the secret; returns the folder for a person's browser."""
    stored = secret.load(home)
    secret.prepare(home, stored.port if stored else settings.load(home).port)
    return install_extension(home)
