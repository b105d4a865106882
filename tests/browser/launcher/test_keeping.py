"""A browser that crashed is started again, with fake browsers; one that was closed is not."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from tabhub.browser.launcher.finder import BrowserFailed, InstalledBrowser
from tabhub.browser.launcher.keeping import CALM_SECONDS, MOST_CRASHES, KeptBrowser
from tabhub.browser.launcher.profile import OpenBrowser
from tabhub.browser.launcher.providing import BrowserOptions, ManagedBrowser, provide
from tabhub.config.paths import Home
from tests.browser.launcher.processes import CHROMIUM, STAYS, TAKES_PROFILE, needs_proc, script
from tests.support.eventually import PATIENCE, eventually

pytestmark = needs_proc


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


class Fakes:
    """Starts fake browsers, and notes the pauses between them instead of waiting."""

    def __init__(self, home: Home, program: Path) -> None:
        self._home = home
        self._program = program
        self.pauses: list[float] = []
        self.time = 0.0
        self.fail_next = 0
        self.started: KeptBrowser | None = None

    async def start(self) -> ManagedBrowser:
        if self.fail_next:
            self.fail_next -= 1
            raise BrowserFailed("no display")
        options = BrowserOptions(self._home, self._home.profile, None, True)
        return await provide(options, lambda: InstalledBrowser(self._program, CHROMIUM, False))

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        assert self.started is not None and self.started.is_kept, "calls still wait for it"

    async def kept(self) -> KeptBrowser:
        browser = await self.start()
        self.started = KeptBrowser(browser, self.start, self.pause, lambda: self.time)
        return self.started


@pytest.fixture
def fakes(home: Home, tmp_path: Path) -> Fakes:
    closes = "trap 'exit 0' USR1"
    return Fakes(home, script(tmp_path / "browser", closes, TAKES_PROFILE, STAYS))


async def _end(kept: KeptBrowser, number: signal.Signals) -> None:
    """End the browser that runs now, and wait until another one runs."""
    before = kept.browser.pid
    os.killpg(before, number)

    async def runs_again() -> bool:
        return kept.browser.pid != before and kept.state == "running"

    await eventually(runs_again)


async def test_a_browser_that_crashed_is_started_again_with_growing_pauses(fakes: Fakes) -> None:
    kept = await fakes.kept()
    running = asyncio.create_task(kept.run())
    for _ in range(MOST_CRASHES):
        await _end(kept, signal.SIGKILL)
    assert fakes.pauses == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert kept.summary()["crashes"] == MOST_CRASHES
    assert "runs again" in kept.summary()["says"]
    os.killpg(kept.browser.pid, signal.SIGSEGV)
    async with asyncio.timeout(PATIENCE):
        end = await running
    assert kept.state == "given up" and "not started again" in end.message
    assert not kept.is_kept
    assert "is not started again" in kept.summary()["says"]
    await kept.stop()


async def test_crashes_long_ago_do_not_count(fakes: Fakes) -> None:
    kept = await fakes.kept()
    running = asyncio.create_task(kept.run())
    for _ in range(MOST_CRASHES + 2):
        fakes.time += CALM_SECONDS
        await _end(kept, signal.SIGKILL)
    assert fakes.pauses == [1.0] * (MOST_CRASHES + 2)
    running.cancel()
    await kept.stop()


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM, signal.SIGINT])
async def test_a_browser_that_a_person_closed_stays_closed(
    fakes: Fakes, number: signal.Signals
) -> None:
    kept = await fakes.kept()
    running = asyncio.create_task(kept.run())
    os.kill(kept.browser.pid, number)
    async with asyncio.timeout(PATIENCE):
        await running
    assert (kept.state, fakes.pauses, kept.crashes) == ("closed", [], 0)
    assert not kept.is_kept
    assert kept.summary()["says"] is None
    await kept.stop()


async def test_a_start_that_fails_counts_as_another_crash(fakes: Fakes) -> None:
    kept = await fakes.kept()
    running = asyncio.create_task(kept.run())
    fakes.fail_next = 2
    await _end(kept, signal.SIGKILL)
    assert fakes.pauses == [1.0, 2.0, 4.0]
    fakes.fail_next = MOST_CRASHES
    os.killpg(kept.browser.pid, signal.SIGKILL)
    async with asyncio.timeout(PATIENCE):
        await running
    assert kept.state == "given up" and len(fakes.pauses) == MOST_CRASHES
    await kept.stop()


@pytest.mark.parametrize(
    ("noted", "crashed"), [("Crashed", True), ("Normal", False), (None, False)]
)
def test_a_browser_of_an_earlier_run_is_judged_by_its_profile(
    home: Home, noted: str | None, crashed: bool
) -> None:
    if noted is not None:
        folder = home.profile / "Default"
        folder.mkdir(parents=True)
        (folder / "Preferences").write_text(f'{{"profile": {{"exit_type": "{noted}"}}}}')
    never = 2**22 + 1
    assert OpenBrowser(never, "", home.profile).has_crashed is crashed
    assert not OpenBrowser(os.getpid(), "", home.profile).has_crashed
