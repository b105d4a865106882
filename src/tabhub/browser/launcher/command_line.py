"""The command line a managed browser is started with. It is public: nothing secret belongs here."""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tabhub.browser.launcher.finder import Browser

BLANK = "about:blank"
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
PIPE = ("--remote-debugging-pipe", "--enable-unsafe-extension-debugging")
_LISTS = (
    "--enable-features=",
    "--disable-features=",
    "--load-extension=",
    "--disable-extensions-except=",
)


def browser_arguments(
    browser: Browser,
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
    # Through the pipe the extension comes late: pages opened before it would be without it.
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


def _loading(browser: Browser, extension: Path) -> tuple[str, ...]:
    if browser.needs_debugging_pipe:
        return PIPE
    return (f"--load-extension={extension}", f"--disable-extensions-except={extension}")


def _is_root() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0
