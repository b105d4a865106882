"""The launcher with a fake browser: command line, profile, start and stop."""

import asyncio
import json
import os
import signal
import socket
from pathlib import Path

import pytest

from tabhub.browser.launcher.finder import (
    BrowserFailed,
    InstalledBrowser,
    browser_arguments,
    merged,
)
from tabhub.browser.launcher.process import BrowserProcess
from tabhub.browser.launcher.profile import prepare_profile
from tabhub.config import secret
from tabhub.config.paths import Home
from tests.browser.launcher.processes import (
    CHROMIUM,
    STAYS,
    TAKES_PROFILE,
    living,
    needs_proc,
    script,
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


# The command line


def arguments(
    home: Home, *, needs_pipe: bool = False, headless: bool = True, extra: tuple[str, ...] = ()
) -> list[str]:
    return browser_arguments(
        InstalledBrowser(Path("/bin/browser"), CHROMIUM, needs_pipe),
        extension=home.managed_extension,
        profile=home.profile,
        headless=headless,
        urls=["http://one.test/"],
        extra=extra,
    )


def test_features_of_a_person_and_ours_are_one_flag(home: Home) -> None:
    command = arguments(home, extra=("--enable-features=A,WebMCP", "--enable-features=B"))
    flags = [flag for flag in command if flag.startswith("--enable-features")]
    assert flags == ["--enable-features=WebMCP,A,B"]


def test_flags_without_a_list_are_not_joined() -> None:
    flags = ["--lang=de", "--lang=en", "--lang=de"]
    assert merged(flags) == flags


def test_another_extension_is_loaded_beside_ours(home: Home) -> None:
    command = arguments(home, extra=("--load-extension=/other",))
    assert f"--load-extension={home.managed_extension},/other" in command


def test_arguments_of_a_person_come_last(home: Home) -> None:
    assert arguments(home, extra=("--lang=de", "--mute-audio"))[-2:] == [
        "--lang=de",
        "--mute-audio",
    ]


def test_chromium_loads_by_flag_and_chrome_by_pipe(home: Home) -> None:
    by_flag, by_pipe = arguments(home), arguments(home, needs_pipe=True)
    assert f"--load-extension={home.managed_extension}" in by_flag
    assert f"--disable-extensions-except={home.managed_extension}" in by_flag
    assert "--remote-debugging-pipe" not in by_flag
    assert "--remote-debugging-pipe" in by_pipe
    assert not any("load-extension" in flag for flag in by_pipe)
    assert "http://one.test/" not in by_pipe


def test_only_a_headless_browser_gets_the_headless_flag(home: Home) -> None:
    assert "--headless=new" in arguments(home)
    assert not any(flag.startswith("--headless") for flag in arguments(home, headless=False))


def test_the_secret_is_not_on_the_command_line(home: Home) -> None:
    auth = secret.prepare(home, 9515)
    assert not any(auth.secret in flag for flag in arguments(home))


# The profile


def preferences(home: Home) -> Path:
    return home.profile / "Default" / "Preferences"


def test_a_new_profile_has_developer_mode(home: Home) -> None:
    prepare_profile(home.profile)
    stored = json.loads(preferences(home).read_text())
    assert stored == {"extensions": {"ui": {"developer_mode": True}}}


def test_other_preferences_are_kept(home: Home) -> None:
    preferences(home).parent.mkdir(parents=True)
    preferences(home).write_text('{"extensions": {"a": 1, "ui": {"b": 2}}, "c": 3}')
    prepare_profile(home.profile)
    stored = json.loads(preferences(home).read_text())
    assert stored == {"extensions": {"a": 1, "ui": {"b": 2, "developer_mode": True}}, "c": 3}


def test_the_folder_for_downloads_is_set_until_it_is_not_wanted_any_more(home: Home) -> None:
    def folder() -> str | None:
        download = json.loads(preferences(home).read_text()).get("download", {})
        found: str | None = download.get("default_directory")
        return found

    for wanted in (Path("/one"), Path("/two")):
        prepare_profile(home.profile, wanted)
        assert folder() == str(wanted)
    prepare_profile(home.profile)
    assert folder() is None
    preferences(home).write_text('{"download": {"default_directory": "/chosen/in/the/browser"}}')
    prepare_profile(home.profile)
    assert folder() == "/chosen/in/the/browser"


@pytest.mark.parametrize("broken", ["{", "[1]", ""])
def test_broken_preferences_are_left_to_the_browser(home: Home, broken: str) -> None:
    preferences(home).parent.mkdir(parents=True)
    preferences(home).write_text(broken)
    prepare_profile(home.profile)
    assert preferences(home).read_text() == broken


# Start and stop of a fake browser


def fake_browser(tmp_path: Path, *lines: str) -> InstalledBrowser:
    return InstalledBrowser(script(tmp_path / "browser", *lines), CHROMIUM, False)


async def start(browser: InstalledBrowser, home: Home) -> BrowserProcess:
    return await BrowserProcess.start(browser, home=home, profile=home.profile, headless=True)


async def test_a_browser_that_exits_at_once_is_an_error_with_its_output(
    home: Home, tmp_path: Path
) -> None:
    noise = "echo '[: 1: unexpected operator' >&2"
    browser = fake_browser(tmp_path, noise, "echo 'No usable sandbox!' >&2", "exit 5")
    with pytest.raises(BrowserFailed) as caught:
        await start(browser, home)
    assert caught.value.message == "The browser ended with exit code 5: No usable sandbox!"


@pytest.mark.parametrize("code", [0, 21])
async def test_a_profile_that_another_browser_has_open_is_an_error_that_says_so(
    home: Home, tmp_path: Path, code: int
) -> None:
    home.profile.mkdir()
    (home.profile / "SingletonLock").symlink_to(f"{socket.gethostname()}-{os.getpid()}")
    with pytest.raises(BrowserFailed, match=rf"open in another browser: .*process {os.getpid()}\b"):
        await start(fake_browser(tmp_path, f"exit {code}"), home)


async def test_a_program_that_cannot_be_started_is_an_error(home: Home, tmp_path: Path) -> None:
    with pytest.raises(BrowserFailed, match="cannot be started"):
        await start(InstalledBrowser(tmp_path / "nothing", CHROMIUM, False), home)


async def test_a_browser_that_fails_later_says_why(home: Home, tmp_path: Path) -> None:
    browser = fake_browser(tmp_path, "trap 'echo oh >&2; exit 3' USR1", TAKES_PROFILE, STAYS)
    process = await start(browser, home)
    os.kill(process.pid, signal.SIGUSR1)
    assert (await process.failure()).message.startswith("The browser ended with exit code 3: oh")
    await process.stop()


@needs_proc
async def test_a_browser_that_ignores_sigterm_is_killed_with_its_helpers(
    home: Home, tmp_path: Path
) -> None:
    browser = fake_browser(tmp_path, "trap '' TERM", TAKES_PROFILE, STAYS)
    process = await start(browser, home)
    await process.stop(timeout=0.2)
    assert await process.wait() == -signal.SIGKILL
    assert living(process.pid) == set()


@needs_proc
async def test_helpers_that_outlive_their_browser_are_ended_too(home: Home, tmp_path: Path) -> None:
    browser = fake_browser(tmp_path, "sleep 600 &", "trap 'exit 0' USR1", TAKES_PROFILE, STAYS)
    process = await start(browser, home)
    os.kill(process.pid, signal.SIGUSR1)
    assert await process.wait() == 0
    await process.stop()
    assert living(process.pid) == set()


@needs_proc
async def test_a_cancelled_start_leaves_no_process(home: Home, tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    os.mkfifo(noted)
    browser = fake_browser(tmp_path, f"echo $$ > {noted}", STAYS)
    starting = asyncio.create_task(start(browser, home))
    pid = int(await asyncio.to_thread(noted.read_text))
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert living(pid) == set()


async def test_stopping_twice_is_not_an_error(home: Home, tmp_path: Path) -> None:
    process = await start(fake_browser(tmp_path, TAKES_PROFILE, STAYS), home)
    await process.stop()
    await process.stop()
