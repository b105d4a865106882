"""One browser with two extensions: the product's installed copy, and the minimal one."""

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
POLL_SECONDS = 0.02


@contextmanager
def chromium(home: Home, other: Path) -> Iterator[int]:
    """Start it with the flags that tabhub itself would use; yields its process group."""
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
        yield process.pid
    finally:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Wait for the whole process group: helpers write to the profile after the browser ends."""
    os.killpg(process.pid, signal.SIGTERM)
    limit = time.monotonic() + STOP_SECONDS
    while _is_alive(process):
        if time.monotonic() > limit:
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(POLL_SECONDS)


def _is_alive(process: "subprocess.Popen[bytes]") -> bool:
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True
