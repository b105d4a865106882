"""`tabhub start --background`: a server of its own session, and the word that it answers."""

import subprocess
import sys
import time
from collections.abc import Sequence

from tabhub.cli import running
from tabhub.config.home import Home
from tabhub.config.lock import locked
from tabhub.errors import Unavailable

PATIENCE_SECONDS = 30.0
LOOK_SECONDS = 0.05
WHILE_USED = "--while-used"
BROWSER = {"--browser", "--demo"}


def run(flags: Sequence[str]) -> None:
    """Start one unless one runs; whoever else wants to start one meanwhile waits and finds it."""
    home = Home.from_environment().create()
    with locked(home.pid):
        known = running.find(home)
        if known is None:
            _say("tabhub runs", _start(home, flags))
            return
        if WHILE_USED not in flags:
            running.make_permanent(home)
        _say("tabhub already runs", known)


def _say(what: str, facts: running.Facts) -> None:
    print(f"{what} on http://127.0.0.1:{facts['port']} (pid {facts['pid']}).")


def _start(home: Home, flags: Sequence[str]) -> running.Facts:
    home.log.touch(mode=0o600)
    with home.log.open("ab") as log:
        begun = log.tell()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tabhub", "start", *flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
    limit = time.monotonic() + PATIENCE_SECONDS
    brings_browser = not BROWSER.isdisjoint(flags)
    while time.monotonic() < limit:
        facts = running.find(home)
        if facts is not None and (facts["extensionConnected"] or not brings_browser):
            return facts
        if process.poll() is not None:
            raise Unavailable(_last_words(home, begun))
        time.sleep(LOOK_SECONDS)
    process.terminate()
    raise Unavailable(f"The server did not answer within {PATIENCE_SECONDS:.0f} s; see {home.log}.")


def _last_words(home: Home, begun: int) -> str:
    """What the server said before it ended."""
    with home.log.open("rb") as log:
        log.seek(begun)
        said = log.read().decode(errors="replace").splitlines()
    told = [line for line in said if line.startswith("tabhub: ")] or said[-1:]
    return told[-1].removeprefix("tabhub: ") if told else f"It ended at once; see {home.log}."
