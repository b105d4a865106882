"""Provides a browser for a profile: a new one, or the one that has it open already.

The process that starts a browser holds a lock in its profile, and ends the browser. If that
process is killed, the lock is released and the browser left behind; the next process takes over
both.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tabhub.browser.launcher.finder import BrowserFailed, InstalledBrowser, ProfileInUse
from tabhub.browser.launcher.process import BrowserProcess
from tabhub.browser.launcher.profile import OpenBrowser
from tabhub.config.files import Hold, Holder, holder
from tabhub.config.paths import Home

LOOKS, LOOK_SECONDS = 50, 0.1
"""How often, and at what interval, to look while another process seems to start a browser."""

Manner = Literal["started", "left behind", "lent"]


@dataclass(frozen=True)
class BrowserOptions:
    """The options that a browser must match or be started with."""

    home: Home
    profile: Path
    headless: bool | None
    """None if a running browser may be either."""
    is_headless: bool
    """Whether a new browser is headless."""
    urls: Sequence[str] = ()
    arguments: Sequence[str] = ()
    lends: bool = True
    """Whether a browser that another process manages is accepted."""
    leaves_with_server: bool = False
    downloads: Path | None = None
    """The folder for downloads; None for the browser's own."""

    def is_met_by(self, running: OpenBrowser) -> bool:
        """Whether a running browser matches; pages are only opened in a new one."""
        return not self.urls and running.fits(self.headless, self.arguments)


class ManagedBrowser:
    """A browser, how it was obtained, and the lock if it is ours to end."""

    def __init__(
        self,
        process: BrowserProcess | OpenBrowser,
        manner: Manner,
        hold: Hold | None,
        is_headless: bool,
    ) -> None:
        self.manner = manner
        self.is_headless = is_headless
        self._process = process
        self._hold = hold

    @property
    def pid(self) -> int:
        return self._process.pid

    async def wait(self) -> int:
        return await self._process.wait()

    async def failure(self) -> BrowserFailed:
        return await self._process.failure()

    @property
    def has_crashed(self) -> bool:
        """Whether it has crashed and is ours to start again."""
        return self._hold is not None and self._process.has_crashed

    async def stop(self) -> None:
        """End it, unless another process manages it."""
        if self._hold is None:
            return
        try:
            await self._process.stop()
        finally:
            self._hold.release()


async def provide(
    options: BrowserOptions, find_browser: Callable[[], InstalledBrowser]
) -> ManagedBrowser:
    """Provide a matching browser; one that was left behind and does not match is ended."""
    hold, running = await _look(options)
    if hold is None:
        if running is None or not options.lends or not options.is_met_by(running):
            raise _in_use(options.profile, running)
        return ManagedBrowser(running, "lent", None, running.is_headless)
    try:
        if running is not None:
            if options.is_met_by(running):
                return ManagedBrowser(running, "left behind", hold, running.is_headless)
            await running.stop()
        process = await _start(options, find_browser)
        return ManagedBrowser(process, "started", hold, options.is_headless)
    except BaseException:
        hold.release()
        raise


def left_behind(home: Home) -> OpenBrowser | None:
    """The running browser of tabhub's own profile, if no process manages it."""
    running = open_in(home)
    return None if running is None or keeper(home.profile) is not None else running


def open_in(home: Home) -> OpenBrowser | None:
    """The running browser of tabhub's own profile."""
    return OpenBrowser.find(home.profile.absolute(), home.managed_extension.absolute())


def keeper(profile: Path) -> Holder | None:
    """The process that manages the browser of a profile."""
    return holder(_lock(profile))


def _lock(profile: Path) -> Path:
    return profile / "tabhub"


async def _look(options: BrowserOptions) -> tuple[Hold | None, OpenBrowser | None]:
    extension = options.home.managed_extension.absolute()
    me = Holder(os.getpid(), options.leaves_with_server)
    for _ in range(LOOKS):
        hold = Hold.take(_lock(options.profile), me)
        running = OpenBrowser.find(options.profile, extension)
        if hold is not None or running is not None:
            return hold, running
        await asyncio.sleep(LOOK_SECONDS)
    return None, None


async def _start(
    options: BrowserOptions, find_browser: Callable[[], InstalledBrowser]
) -> BrowserProcess:
    return await BrowserProcess.start(
        await asyncio.to_thread(find_browser),
        home=options.home,
        profile=options.profile,
        headless=options.is_headless,
        urls=options.urls,
        extra_args=options.arguments,
        downloads=options.downloads,
    )


def _in_use(profile: Path, running: OpenBrowser | None) -> ProfileInUse:
    known = keeper(profile)
    who = f"tabhub (process {known.pid})" if known is not None and known.pid else "another tabhub"
    which = "a browser" if running is None else f"a browser (process {running.pid})"
    return ProfileInUse(
        f"{who} has {which} open in the profile {profile}. Use that one, stop it there, or choose"
        " another --user-data-dir."
    )


async def end_left_behind(home: Home) -> int | None:
    """End a browser that an earlier run has left behind; returns its process number."""
    running = left_behind(home)
    if running is None:
        return None
    hold = Hold.take(_lock(home.profile), Holder(os.getpid()))
    if hold is None:
        return None
    with suppress(ProcessLookupError):
        await running.stop()
    hold.release()
    return running.pid
