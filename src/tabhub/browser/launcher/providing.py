"""A browser for a profile: a new one, or the one that has it open already.

Whoever starts a browser holds a lock beside its profile and ends it. A process that is killed
lets go of the lock and leaves its browser behind; the next one takes both over.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tabhub.browser.launcher.finder import Browser, BrowserFailed, ProfileInUse
from tabhub.browser.launcher.process import BrowserProcess
from tabhub.browser.launcher.profile import OpenBrowser
from tabhub.config.files import Hold, Holder, holder
from tabhub.config.paths import Home

LOOKS, LOOK_SECONDS = 50, 0.1
"""How often to look again while another process seems to be starting a browser there."""

Manner = Literal["started", "left behind", "lent"]


@dataclass(frozen=True)
class Wanted:
    """What somebody says about a browser; None for what is all the same to them."""

    home: Home
    profile: Path
    headless: bool | None
    is_headless: bool
    """Of one that must be started."""
    urls: Sequence[str] = ()
    arguments: Sequence[str] = ()
    lends: bool = True
    """Whether one that another process looks after will do."""
    leaves_with_server: bool = False

    def is_met_by(self, found: OpenBrowser) -> bool:
        """Pages can be opened only in a browser that is started."""
        return not self.urls and found.fits(self.headless, self.arguments)


class ManagedBrowser:
    """A browser, how we came by it, and whether it is ours to end."""

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

    async def stop(self) -> None:
        """End it, unless another process looks after it."""
        if self._hold is None:
            return
        try:
            await self._process.stop()
        finally:
            self._hold.release()


async def provide(wanted: Wanted, find_browser: Callable[[], Browser]) -> ManagedBrowser:
    """A browser as it is wanted; one that was left behind and is not like that is ended."""
    hold, found = await _look(wanted)
    if hold is None:
        if found is None or not wanted.lends or not wanted.is_met_by(found):
            raise _in_use(wanted.profile, found)
        return ManagedBrowser(found, "lent", None, found.is_headless)
    try:
        if found is not None:
            if wanted.is_met_by(found):
                return ManagedBrowser(found, "left behind", hold, found.is_headless)
            await found.stop()
        process = await _started(wanted, find_browser)
        return ManagedBrowser(process, "started", hold, wanted.is_headless)
    except BaseException:
        hold.release()
        raise


def left_behind(home: Home) -> OpenBrowser | None:
    """The browser of tabhub's own profile, if it runs and nobody looks after it."""
    found = open_in(home)
    return None if found is None or keeper(home.profile) is not None else found


def open_in(home: Home) -> OpenBrowser | None:
    """The browser of tabhub's own profile."""
    return OpenBrowser.find(home.profile.absolute(), home.managed_extension.absolute())


def keeper(profile: Path) -> Holder | None:
    """The process that looks after the browser of a profile."""
    return holder(_lock(profile))


def _lock(profile: Path) -> Path:
    return profile / "tabhub"


async def _look(wanted: Wanted) -> tuple[Hold | None, OpenBrowser | None]:
    extension = wanted.home.managed_extension.absolute()
    me = Holder(os.getpid(), wanted.leaves_with_server)
    for _ in range(LOOKS):
        hold = Hold.take(_lock(wanted.profile), me)
        found = OpenBrowser.find(wanted.profile, extension)
        if hold is not None or found is not None:
            return hold, found
        await asyncio.sleep(LOOK_SECONDS)
    return None, None


async def _started(wanted: Wanted, find_browser: Callable[[], Browser]) -> BrowserProcess:
    return await BrowserProcess.start(
        await asyncio.to_thread(find_browser),
        home=wanted.home,
        profile=wanted.profile,
        headless=wanted.is_headless,
        urls=wanted.urls,
        extra_args=wanted.arguments,
    )


def _in_use(profile: Path, found: OpenBrowser | None) -> ProfileInUse:
    known = keeper(profile)
    who = f"tabhub (process {known.pid})" if known is not None and known.pid else "another tabhub"
    which = "a browser" if found is None else f"a browser (process {found.pid})"
    return ProfileInUse(
        f"{who} has {which} open in the profile {profile}. Use that one, stop it there, or choose"
        " another --user-data-dir."
    )


async def end_left_behind(home: Home) -> int | None:
    """Close the browser that an earlier run has left behind; its process, if there was one."""
    found = left_behind(home)
    if found is None:
        return None
    hold = Hold.take(_lock(home.profile), Holder(os.getpid()))
    if hold is None:
        return None
    with suppress(ProcessLookupError):
        await found.stop()
    hold.release()
    return found.pid
