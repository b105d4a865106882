"""One browser with two extensions: the product's installed copy, and the floor's."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tabhub.browser.arguments import browser_arguments
from tabhub.browser.finder import find_browser
from tabhub.config.home import Home

STOP_SECONDS = 10


@contextmanager
def chromium(home: Home, other: Path) -> Iterator[None]:
    """Started with the flags that tabhub itself would use."""
    browser = find_browser()
    if browser.needs_debugging_pipe:
        raise RuntimeError(f"{browser.version} loads no second extension: set TABHUB_BROWSER.")
    extensions = (f"--load-extension={other}", f"--disable-extensions-except={other}")
    command = browser_arguments(
        browser, extension=home.extension, profile=home.profile, headless=True, extra=extensions
    )
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        yield
    finally:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
