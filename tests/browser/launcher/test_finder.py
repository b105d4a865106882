"""Finding the browser of this machine."""

import platform
import sys
from pathlib import Path

import pytest

from tabhub.browser.launcher import finder
from tabhub.browser.launcher.finder import BrowserNotFound, InstalledBrowser, find_browser
from tests.browser.launcher.processes import script

CHROMIUM = "Chromium 156.0.1 built on Debian"
CHROME = "Google Chrome 156.0.1"
FOR_TESTING = "Google Chrome for Testing 156.0.1"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH, still empty."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("TABHUB_BROWSER", raising=False)
    monkeypatch.setattr(finder, "_usual_places", list)
    return folder


def prints(version: str) -> str:
    return f"echo '{version}'"


@pytest.mark.parametrize(
    ("name", "version", "needs_pipe"),
    [
        ("chromium", CHROMIUM, False),
        ("google-chrome", CHROME, True),
        ("chrome", FOR_TESTING, False),
    ],
)
def test_only_google_chrome_needs_the_debugging_pipe(
    programs: Path, name: str, version: str, needs_pipe: bool
) -> None:
    path = script(programs / name, prints(version))
    assert find_browser() == InstalledBrowser(path, version, needs_pipe)


def test_chrome_comes_before_chromium(programs: Path) -> None:
    script(programs / "chromium", prints(CHROMIUM))
    script(programs / "google-chrome-stable", prints(CHROME))
    assert find_browser().version == CHROME


def test_the_browser_named_in_the_environment_comes_first(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(programs / "google-chrome", prints(CHROME))
    named = script(tmp_path / "mine", prints(CHROMIUM))
    monkeypatch.setenv("TABHUB_BROWSER", str(named))
    assert find_browser() == InstalledBrowser(named, CHROMIUM, False)


def test_a_browser_named_in_the_environment_must_be_a_program(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(programs / "chromium", prints(CHROMIUM))
    monkeypatch.setenv("TABHUB_BROWSER", "/nowhere/chrome")
    with pytest.raises(BrowserNotFound, match="TABHUB_BROWSER is '/nowhere/chrome'"):
        find_browser()


def test_a_program_that_prints_no_version_is_skipped(programs: Path) -> None:
    script(programs / "chrome", "echo 'install the snap' >&2", "exit 1")
    script(programs / "chromium", prints(CHROMIUM))
    assert find_browser().version == CHROMIUM


def test_warnings_of_a_wrapper_are_not_part_of_the_version(programs: Path) -> None:
    complaint = "echo '[: 25276518400: unexpected operator' >&2"
    script(programs / "chromium", complaint, prints(CHROMIUM))
    assert find_browser().version == CHROMIUM


@pytest.mark.parametrize(
    ("system", "command"),
    [
        ("linux", "apt-get install chromium"),
        ("darwin", "brew install --cask google-chrome"),
        ("win32", "winget install Google.Chrome"),
    ],
)
def test_without_a_browser_one_sentence_says_what_to_install(
    programs: Path, monkeypatch: pytest.MonkeyPatch, system: str, command: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "debian"})
    with pytest.raises(BrowserNotFound) as caught:
        find_browser()
    assert command in caught.value.message
    assert "TABHUB_BROWSER" in caught.value.message
    assert caught.value.message.count(".") - command.count(".") == 1


def test_a_derived_linux_distribution_gets_the_same_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    release = {"ID": "mint", "ID_LIKE": "ubuntu debian"}
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: release)
    assert finder._installer() == "snap install chromium"


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("microsoft-edge-stable", "Microsoft Edge 156.0.1"),
        ("brave-browser", "Brave Browser 156.1.2"),
    ],
)
def test_edge_and_brave_are_found_and_take_the_pipe_like_chrome(
    programs: Path, name: str, version: str
) -> None:
    path = script(programs / name, prints(version))
    assert find_browser() == InstalledBrowser(path, version, True)
    script(programs / "chromium", prints(CHROMIUM))
    assert find_browser().version == CHROMIUM


@pytest.mark.parametrize(
    ("program", "needs_pipe"),
    [
        ("Google/Chrome/Application/chrome.exe", True),
        ("Microsoft/Edge/Application/msedge.exe", True),
        ("BraveSoftware/Brave-Browser/Application/brave.exe", True),
        ("Chromium/Application/chrome.exe", False),
    ],
)
@pytest.mark.parametrize("variable", ["PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"])
def test_windows_browsers_are_found_where_its_variables_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, program: str, needs_pipe: bool
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.delenv("TABHUB_BROWSER", raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv(variable, str(tmp_path / "Ünser Ort"))
    path = script(tmp_path / "Ünser Ort" / program)
    assert find_browser() == InstalledBrowser(path, "", needs_pipe)


@pytest.mark.parametrize("app", ["Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser"])
def test_mac_browsers_are_found_among_the_persons_applications(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, app: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.delenv("TABHUB_BROWSER", raising=False)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("HOME", str(tmp_path))
    program = tmp_path / "Applications" / f"{app}.app" / "Contents" / "MacOS" / app
    script(program, prints(f"{app} 156"))
    assert find_browser() == InstalledBrowser(program, f"{app} 156", app != "Chromium")
