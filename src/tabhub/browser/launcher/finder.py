"""Finds the Chrome or Chromium of this machine, and makes the command that starts it."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabhub.config.environment import browser_from_environment
from tabhub.errors import NotFound, Unavailable

VERSION_SECONDS = 15
NAMES = ("google-chrome", "google-chrome-stable", "chrome", "chromium", "chromium-browser")
_MAC_APPS = ("Google Chrome", "Google Chrome for Testing", "Chromium")
_WINDOWS_FOLDERS = ("Google/Chrome", "Chromium")
_LINUX_INSTALLERS = {
    "debian": "apt-get install chromium",
    "ubuntu": "snap install chromium",
    "fedora": "dnf install chromium",
    "arch": "pacman -S chromium",
    "alpine": "apk add chromium",
    "suse": "zypper install chromium",
}


BLANK = "about:blank"
PIPE = ("--remote-debugging-pipe", "--enable-unsafe-extension-debugging")
_ALWAYS = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--silent-debugger-extension-api",
    "--enable-features=WebMCP",
    # Otherwise a page's work after a click waits for the next frame.
    "--disable-features=DeferRendererTasksAfterInput",
)
_HEADLESS = ("--headless=new", "--disable-gpu")
_LISTS = (
    "--enable-features=",
    "--disable-features=",
    "--load-extension=",
    "--disable-extensions-except=",
)


class BrowserNotFound(NotFound):
    """No browser was found; the message says what to install."""


class BrowserFailed(Unavailable):
    """The browser did not start or did not do what it should; the message says how."""


class ProfileInUse(BrowserFailed):
    """Another browser has the profile open."""


@dataclass(frozen=True)
class InstalledBrowser:
    """A browser program that can be started."""

    path: Path
    version: str
    needs_debugging_pipe: bool
    """Whether it is Google's own build, which ignores `--load-extension`."""


def find_browser() -> InstalledBrowser:
    """The browser named by TABHUB_BROWSER, else the first one that prints its version."""
    named = browser_from_environment()
    if named:
        return _named(named)
    for path in _candidates():
        version = _version(path)
        if version is not None:
            return _browser(path, version)
    raise BrowserNotFound(
        f"No Chrome or Chromium was found: install one ({_installer()}),"
        " or set TABHUB_BROWSER to its path."
    )


def _named(name: str) -> InstalledBrowser:
    path = shutil.which(Path(name).expanduser())
    if path is None:
        raise BrowserNotFound(
            f"TABHUB_BROWSER is {name!r}, which is not a program:"
            f" correct it, or install a browser ({_installer()}) and unset it."
        )
    return _browser(Path(path), _version(Path(path)) or "")


def _browser(path: Path, version: str) -> InstalledBrowser:
    return InstalledBrowser(path.absolute(), version, _is_branded(path, version))


def _is_branded(path: Path, version: str) -> bool:
    if version:
        return version.startswith("Google Chrome") and "for Testing" not in version
    folder = path.as_posix().lower()
    return "google/chrome/" in folder or "google-chrome" in folder or "google chrome.app" in folder


def _candidates() -> Iterator[Path]:
    for name in NAMES:
        found = shutil.which(name)
        if found:
            yield Path(found)
    yield from filter(Path.is_file, _usual_places())


def _usual_places() -> list[Path]:
    if sys.platform == "darwin":
        return _mac_places()
    if sys.platform == "win32":
        return _windows_places()
    return []


def _mac_places() -> list[Path]:
    folders = (Path("/Applications"), Path.home() / "Applications")
    return [
        folder / f"{app}.app" / "Contents" / "MacOS" / app
        for folder in folders
        for app in _MAC_APPS
    ]


def _windows_places() -> list[Path]:
    local = Path.home() / "AppData" / "Local"
    roots = (Path("C:/Program Files"), Path("C:/Program Files (x86)"), local)
    return [
        root / folder / "Application" / "chrome.exe"
        for root in roots
        for folder in _WINDOWS_FOLDERS
    ]


def _version(path: Path) -> str | None:
    """What it prints as its version; None if it cannot run, such as a stub without its package."""
    if sys.platform == "win32":
        # There, --version opens a window instead.
        return ""
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            # Debian's wrapper prints needless warnings there.
            stderr=subprocess.DEVNULL,
            timeout=VERSION_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip()


def _installer() -> str:
    if sys.platform == "darwin":
        return "brew install --cask google-chrome"
    if sys.platform == "win32":
        return "winget install Google.Chrome"
    for name in _distributions():
        if name in _LINUX_INSTALLERS:
            return _LINUX_INSTALLERS[name]
    return "the package is usually called chromium"


def _distributions() -> list[str]:
    """The ids of this Linux distribution and of those it derives from, nearest first."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return []
    return [release.get("ID", ""), *release.get("ID_LIKE", "").split()]


def browser_arguments(
    browser: InstalledBrowser,
    *,
    extension: Path,
    profile: Path,
    headless: bool,
    urls: Sequence[str] = (),
    extra: Sequence[str] = (),
) -> list[str]:
    """The whole command, program first; a person's own arguments come last."""
    ours = [f"--user-data-dir={profile}", *_ALWAYS, *_loading(browser, extension)]
    if headless:
        ours += _HEADLESS
    if _is_root():
        ours.append("--no-sandbox")
    # Through the pipe the extension is loaded later, and pages opened before would lack it.
    pages = [BLANK] if browser.needs_debugging_pipe and urls else list(urls)
    return [str(browser.path), *pages, *merged([*ours, *extra])]


def merged(arguments: Iterable[str]) -> list[str]:
    """Join repeated flags that hold a list, because the browser honours only the last of them."""
    flags: list[str] = []
    lists: dict[str, list[str]] = {}
    for argument in arguments:
        name = next((name for name in _LISTS if argument.startswith(name)), argument)
        if name not in lists:
            flags.append(name)
        if name in _LISTS:
            lists.setdefault(name, []).extend(argument.removeprefix(name).split(","))
    return [flag + ",".join(dict.fromkeys(lists.get(flag, ()))) for flag in flags]


def _loading(browser: InstalledBrowser, extension: Path) -> tuple[str, ...]:
    if browser.needs_debugging_pipe:
        return PIPE
    return (f"--load-extension={extension}", f"--disable-extensions-except={extension}")


def _is_root() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0
