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
    facts = running.find(home)
    if facts is None:
        silent = filter(None, ("tabhub is not running.", running.silent(home)))
        print(running.elsewhere(home) or "\n".join(silent))
        sys.exit(NOT_REACHABLE)
    # The server itself has said which process it is; a pid file may be older than that.
    os.kill(facts["pid"], signal.SIGTERM)
    if not _gone(home, facts["pid"]):
        print(f"tabhub (pid {facts['pid']}) did not stop.", file=sys.stderr)
        sys.exit(FAILED)
    print("Stopped.")


def _gone(home: Home, pid: int) -> bool:
    """Whether it has tidied up: taking its pid file away is the last thing a server does."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < limit:
        known = running.read(home)
        if known is None or known.pid != pid or not running.is_alive(pid):
            return True
        time.sleep(0.05)
    return False
