"""One browser with two extensions: the product's installed copy, and the floor's."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tabhub.browser.launcher.finder import browser_arguments, find_browser
from tabhub.config.paths import Home

STOP_SECONDS = 10
LOOK_SECONDS = 0.02


@contextmanager
def chromium(home: Home, other: Path) -> Iterator[None]:
    """Started with the flags that tabhub itself would use."""
    browser = find_browser()
    if browser.needs_debugging_pipe:
        raise RuntimeError(f"{browser.version} loads no second extension: set TABHUB_BROWSER.")
    extensions = (f"--load-extension={other}", f"--disable-extensions-except={other}")
    command = browser_arguments(
        browser,
        extension=home.managed_extension,
        profile=home.profile,
        headless=True,
        extra=extensions,
    )
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        yield
    finally:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """The helpers outlive the browser a little, and write to its profile meanwhile."""
    os.killpg(process.pid, signal.SIGTERM)
    limit = time.monotonic() + STOP_SECONDS
    while _is_alive(process):
        if time.monotonic() > limit:
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(LOOK_SECONDS)


def _is_alive(process: "subprocess.Popen[bytes]") -> bool:
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True
