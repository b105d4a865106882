"""A browser for a profile that is already in use, with fake browsers."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabhub.browser.launcher.finder import BrowserFailed, InstalledBrowser, ProfileInUse
from tabhub.browser.launcher.providing import (
    BrowserOptions,
    end_left_behind,
    keeper,
    left_behind,
    provide,
)
from tabhub.config.paths import Home
from tabhub.system.processes import is_alive
from tests.browser.launcher.processes import (
    CHROMIUM,
    STAYS,
    TAKES_PROFILE,
    living,
    needs_proc,
    script,
)
from tests.support.eventually import PATIENCE, eventually_sync

pytestmark = needs_proc

HOLDS = """
import sys, time
from pathlib import Path
from tabhub.config.files import Hold, Holder
hold = Hold.take(Path(sys.argv[1]) / "tabhub", Holder(4711))
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "a home").create()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return script(tmp_path / "browser", TAKES_PROFILE, "sleep 600 &", STAYS)


@pytest.fixture
def processes() -> Iterator[list["subprocess.Popen[bytes]"]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


class Orphan:
    """A browser left running by a killed server."""

    def __init__(self, home: Home, program: Path, *flags: str) -> None:
        home.profile.mkdir(exist_ok=True)
        words = [str(program), f"--user-data-dir={home.profile}", *flags]
        self.process = subprocess.Popen(words, start_new_session=True)
        lock = home.profile / "SingletonLock"
        eventually_sync(lambda: lock.is_symlink(), "the profile to be taken")
        self.pid = self.process.pid


@pytest.fixture
def orphan(
    home: Home, program: Path, processes: list["subprocess.Popen[bytes]"]
) -> Iterator[Orphan]:
    left_over = Orphan(
        home, program, f"--load-extension=/a,{home.managed_extension}", "--headless=new"
    )
    processes.append(left_over.process)
    yield left_over


def options(
    home: Home, headless: bool | None = None, *arguments: str, lends: bool = True
) -> BrowserOptions:
    return BrowserOptions(home, home.profile, headless, True, arguments=arguments, lends=lends)


def installed(program: Path) -> InstalledBrowser:
    return InstalledBrowser(program, CHROMIUM, False)


async def test_a_browser_that_was_left_behind_is_used_again_and_ended_with_its_helpers(
    home: Home, program: Path, orphan: Orphan
) -> None:
    left = left_behind(home)
    assert left is not None and left.pid == orphan.pid
    browser = await provide(options(home), lambda: installed(program))
    assert (browser.manner, browser.pid) == ("left behind", orphan.pid)
    assert left_behind(home) is None
    owner = keeper(home.profile)
    assert owner is not None and owner.pid == os.getpid()
    await browser.stop()
    assert not is_alive(orphan.pid)
    eventually_sync(lambda: living(orphan.pid) == set(), "the helpers to end")
    assert keeper(home.profile) is None


async def test_a_browser_with_other_options_is_replaced(
    home: Home, program: Path, orphan: Orphan
) -> None:
    for requested in (options(home, None, "--lang=de"), options(home, False)):
        browser = await provide(requested, lambda: installed(program))
        assert (browser.manner, is_alive(orphan.pid)) == ("started", False)
        await browser.stop()


async def test_the_exit_of_a_browser_of_an_earlier_run_is_noticed(
    home: Home, program: Path, orphan: Orphan
) -> None:
    browser = await provide(options(home, True), lambda: installed(program))
    failing = asyncio.create_task(browser.failure())
    orphan.process.kill()
    async with asyncio.timeout(PATIENCE):
        assert isinstance(await failing, BrowserFailed)
    await browser.stop()


async def test_a_browser_of_another_process_is_lent_or_refused_and_never_stopped(
    home: Home, program: Path, orphan: Orphan, processes: list["subprocess.Popen[bytes]"]
) -> None:
    command = [sys.executable, "-c", HOLDS, str(home.profile)]
    other = subprocess.Popen(command, stdout=subprocess.PIPE)
    processes.append(other)
    assert other.stdout is not None and other.stdout.readline() == b"held\n"
    browser = await provide(options(home), lambda: installed(program))
    assert (browser.manner, browser.pid) == ("lent", orphan.pid)
    await browser.stop()
    assert is_alive(orphan.pid)
    assert left_behind(home) is None and await end_left_behind(home) is None
    for requested in (options(home, lends=False), options(home, False)):
        with pytest.raises(ProfileInUse, match=r"process 4711.*another --user-data-dir"):
            await provide(requested, lambda: installed(program))
    assert is_alive(orphan.pid)
    other.kill()
    other.wait()
    other.stdout.close()
    assert await end_left_behind(home) == orphan.pid


async def test_a_browser_without_our_extension_is_not_used(
    home: Home,
    program: Path,
    tmp_path: Path,
    processes: list["subprocess.Popen[bytes]"],
) -> None:
    stranger = Orphan(home, program, f"--load-extension={home.managed_extension}-of-another")
    processes.append(stranger.process)
    hands_over = script(tmp_path / "second", "exit 21")
    with pytest.raises(ProfileInUse, match="open in another browser"):
        await provide(options(home), lambda: installed(hands_over))
    assert is_alive(stranger.pid) and left_behind(home) is None
    assert keeper(home.profile) is None


async def test_another_process_with_the_number_of_a_dead_browser_is_left_alone(
    home: Home, program: Path, processes: list["subprocess.Popen[bytes]"]
) -> None:
    bystander = subprocess.Popen(["sleep", "600"])
    processes.append(bystander)
    home.profile.mkdir()
    (home.profile / "SingletonLock").symlink_to(f"{socket.gethostname()}-{bystander.pid}")
    assert left_behind(home) is None
    browser = await provide(options(home), lambda: installed(program))
    assert browser.manner == "started"
    await browser.stop()
    assert bystander.poll() is None
