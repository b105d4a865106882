"""Finds Chrome or a browser like it on this machine, and makes the command that starts it."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tabhub.config.environment import browser_from_environment
from tabhub.errors import NotFound, Unavailable
from tabhub.system.rights import is_root

VERSION_SECONDS = 15
_FOR_TESTING = "for Testing"
_INSTALLERS = {
    "darwin": "brew install --cask google-chrome",
    "win32": "winget install Google.Chrome",
    "debian": "apt-get install chromium",
    "ubuntu": "snap install chromium",
    "fedora": "dnf install chromium",
    "arch": "pacman -S chromium",
    "alpine": "apk add chromium",
    "suse": "zypper install chromium",
}


class Maker(NamedTuple):
    """Where the browser of one maker is, on every system."""

    names: tuple[str, ...]
    """What its program may be called on the PATH."""
    mac_apps: tuple[str, ...]
    windows_program: str
    """Below the folders in which Windows installs programs."""
    is_branded: bool
    """Whether its own build may ignore `--load-extension`; every build knows the pipe."""


MAKERS = (
    Maker(
        ("google-chrome", "google-chrome-stable", "chrome"),
        ("Google Chrome", "Google Chrome for Testing"),
        "Google/Chrome/Application/chrome.exe",
        True,
    ),
    Maker(
        ("chromium", "chromium-browser"), ("Chromium",), "Chromium/Application/chrome.exe", False
    ),
    Maker(
        ("microsoft-edge", "microsoft-edge-stable", "msedge"),
        ("Microsoft Edge",),
        "Microsoft/Edge/Application/msedge.exe",
        True,
    ),
    Maker(
        ("brave-browser", "brave-browser-stable", "brave"),
        ("Brave Browser",),
        "BraveSoftware/Brave-Browser/Application/brave.exe",
        True,
    ),
)
"""The first one that is found is used."""
NAMES = tuple(name for maker in MAKERS for name in maker.names)
_WINDOWS_FOLDERS = {
    "PROGRAMFILES": "C:/Program Files",
    "PROGRAMFILES(X86)": "C:/Program Files (x86)",
    "LOCALAPPDATA": "~/AppData/Local",
}
"""By the variables that name them; the value is where they usually are."""
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
    """Whether it is a maker's own build, of which Google's ignores `--load-extension`."""


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
        f"No Chrome, Chromium, Edge or Brave was found: install one ({_installer()}),"
        " or set TABHUB_BROWSER to its path."
    )


def _named(name: str) -> InstalledBrowser:
    path = shutil.which(str(Path(name).expanduser()))
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
        brands = tuple(maker.mac_apps[0] for maker in MAKERS if maker.is_branded)
        return version.startswith(brands) and _FOR_TESTING not in version
    return any(_is_from(path.as_posix().lower(), maker) for maker in MAKERS if maker.is_branded)


def _is_from(path: str, maker: Maker) -> bool:
    """Whether a path looks like that of a maker's browser; on Windows no version tells."""
    marks = (maker.windows_program, f"/{maker.names[0]}", f"/{maker.mac_apps[0]}.app/")
    return any(mark.lower() in path for mark in marks)


def _candidates() -> Iterator[Path]:
    for name in NAMES:
        found = shutil.which(name)
        if found:
            yield Path(found)
    yield from filter(Path.is_file, _usual_places())


def _usual_places() -> list[Path]:
    return _PLACES.get(sys.platform, list)()


def _mac_places() -> list[Path]:
    folders = (Path("/Applications"), Path.home() / "Applications")
    return [
        folder / f"{app}.app" / "Contents" / "MacOS" / app
        for maker in MAKERS
        for app in maker.mac_apps
        for folder in folders
    ]


def _windows_places() -> list[Path]:
    roots = [
        Path(os.environ.get(variable) or usual).expanduser()
        for variable, usual in _WINDOWS_FOLDERS.items()
    ]
    return [root / maker.windows_program for maker in MAKERS for root in roots]


_PLACES: dict[str, Callable[[], list[Path]]] = {"darwin": _mac_places, "win32": _windows_places}


def _version(path: Path) -> str | None:
    """What it prints as its version; None if it cannot run, such as a stub without its package."""
    system: str = sys.platform
    if system == "win32":
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
    for name in (sys.platform, *_distributions()):
        if name in _INSTALLERS:
            return _INSTALLERS[name]
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
    if is_root():
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
