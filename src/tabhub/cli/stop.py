"""`tabhub stop`."""

import os
import signal
import sys
import time

from tabhub.cli import FAILED, NOT_REACHABLE, running
from tabhub.config.home import Home

PATIENCE_SECONDS = 15.0


def run() -> None:
    home = Home.from_environment()
    found = running.find(home)
    if found is None:
        print("tabhub is not running.")
        sys.exit(NOT_REACHABLE)
    os.kill(found.pid, signal.SIGTERM)
    if not _gone(home, found):
        print(f"tabhub (pid {found.pid}) did not stop.", file=sys.stderr)
        sys.exit(FAILED)
    print("Stopped.")


def _gone(home: Home, stopped: running.PidFile) -> bool:
    """Whether it has tidied up: taking its pid file away is the last thing a server does."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < limit:
        if running.read(home) != stopped:
            return True
        time.sleep(0.05)
    return False
