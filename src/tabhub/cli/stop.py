"""`tabhub stop`."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable

from tabhub.browser.launcher.providing import end_left_behind, keeper, open_in
from tabhub.cli import FAILED, NOT_REACHABLE, running
from tabhub.config.paths import Home
from tabhub.config.processes import is_alive

PATIENCE_SECONDS = 15.0


def run() -> None:
    home = Home.from_environment()
    facts = running.find(home)
    if facts is not None:
        _stop(home, facts["pid"])
        _close_browser(home)
        return
    elsewhere = running.elsewhere(home)
    silent = filter(None, ("tabhub is not running.", running.silent(home)))
    print(elsewhere or "\n".join(silent))
    # A server of ours that is elsewhere looks after its browser.
    is_kept = elsewhere is not None and running.is_left(home)
    if is_kept or not _close_browser(home):
        sys.exit(NOT_REACHABLE)


def _stop(home: Home, pid: int) -> None:
    # The server itself has said which process it is; a pid file may be older than that.
    os.kill(pid, signal.SIGTERM)
    if not _within(lambda: _is_gone(home, pid)):
        print(f"tabhub (pid {pid}) did not stop.", file=sys.stderr)
        sys.exit(FAILED)
    print("Stopped.")


def _is_gone(home: Home, pid: int) -> bool:
    """Whether it has tidied up: taking its pid file away is the last thing a server does."""
    known = running.read(home)
    return known is None or known.pid != pid or not is_alive(pid)


def _close_browser(home: Home) -> bool:
    """Close a browser that nobody looks after any more, or tell of one that stays; if closed."""
    _tidy_up(home)
    known = keeper(home.profile)
    if known is not None and known.leaves_with_server:
        return _say_closed("Its browser", _within(lambda: keeper(home.profile) is None))
    pid = asyncio.run(end_left_behind(home))
    if pid is not None:
        return _say_closed(f"The browser that an earlier run left behind (pid {pid})", True)
    if keeper(home.profile) is not None and (still := open_in(home)) is not None:
        print(f"A browser of `tabhub browser` is still open (pid {still.pid}); close it there.")
    return False


def _say_closed(which: str, closed: bool) -> bool:
    print(f"{which} is closed." if closed else f"{which} did not close.")
    return closed


def _tidy_up(home: Home) -> None:
    """The pid file of a killed server says to a browser that another one may come."""
    known = running.read(home)
    if known is not None and not is_alive(known.pid):
        home.pid.unlink(missing_ok=True)


def _within(look: Callable[[], bool]) -> bool:
    limit = time.monotonic() + PATIENCE_SECONDS
    while not look():
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True
