"""`tabhub start --background`: a server of its own session, and the word that it answers."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tabhub.browser.launcher.providing import end_left_behind, keeper, open_in
from tabhub.cli import FAILED, NOT_REACHABLE, running
from tabhub.cli.running import spoken
from tabhub.cli.server.server_status import described
from tabhub.config.files import locked
from tabhub.config.paths import Home
from tabhub.config.processes import is_alive
from tabhub.errors import Unavailable
from tabhub.permissions.sites import site_of

PATIENCE_SECONDS = 30.0
BROWSER_PATIENCE_SECONDS = 90.0
"""Longer than the server itself waits for its browser, and then says why."""
LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Asked:
    """What was said on the command line."""

    flags: Sequence[str]
    """All of it, as a server is to be given it."""
    browser_flags: Sequence[str]
    """What of it is about the browser."""
    at_start: Sequence[str]
    """What of it a server takes only at its start."""
    browser: bool
    port: int | None
    sse_port: int | None
    while_used: bool
    """By a bridge, to which any server will do."""


def run(asked: Asked) -> None:
    """Start one unless one runs; whoever else wants to start one meanwhile waits and finds it."""
    home = Home.from_environment().create()
    with locked(home.pid):
        known = running.find(home)
        if known is None:
            _say("tabhub runs", _start_server(home, asked))
        else:
            join = _used if asked.while_used else _joined
            _say("tabhub already runs", join(home, asked, known))


def _used(home: Home, asked: Asked, known: running.Facts) -> running.Facts:
    """For a bridge any server will do, and any browser."""
    if not asked.browser or known["browsers"] or known["starting"]:
        return known
    return _start_browser(home, asked)


def _joined(home: Home, asked: Asked, known: running.Facts) -> running.Facts:
    """The running server, with a browser if one is wanted; refused if it is another than wanted."""
    for flag, wanted, there in (
        ("--port", asked.port, known["port"]),
        ("--sse-port", asked.sse_port, known["ssePort"]),
    ):
        if wanted and wanted != there:
            raise _differs(f"not with {flag} {wanted}", known)
    if asked.at_start:
        raise _differs(f"and takes {', '.join(asked.at_start)} only at its start", known)
    running.make_permanent(home)
    if not asked.browser or _has_browser(known):
        return known
    return _start_browser(home, asked)


def _has_browser(facts: running.Facts) -> bool:
    return any(one["ready"] and one["kind"] == "managed" for one in facts["browsers"])


def _differs(how: str, known: running.Facts) -> Unavailable:
    where = f"on port {known['port']} (pid {known['pid']})"
    return Unavailable(f"A server already runs {where}, {how}. `tabhub stop` stops it.")


def _say(what: str, facts: running.Facts) -> None:
    command = spoken()
    print(f"{what} on http://127.0.0.1:{facts['port']} (pid {facts['pid']}).")
    browsers = [described(browser) for browser in facts["browsers"]]
    print("\n".join(f"Browser: {one}." for one in browsers) or _NO_BROWSER.format(command))
    if facts.get("demo"):
        print(f"Demo shop: {facts['demo']}")
        print(f"  its tools: {command} tool list --plugin {site_of(facts['demo'])}")
    print(f"Connect an agent: {command} connect AGENT (claude-code, cursor, codex, ...)")
    print(f"  or by hand, with the blocks of: {command} start --show-config")


_NO_BROWSER = "No browser is connected: {} browser"


def _start_server(home: Home, asked: Asked) -> running.Facts:
    seconds = BROWSER_PATIENCE_SECONDS if asked.browser else PATIENCE_SECONDS

    def up() -> running.Facts | None:
        facts = running.find(home)
        return None if facts is None or facts["starting"] else facts

    return _start(home, ["start", *asked.flags], up, "The server", seconds)


def _start_browser(home: Home, asked: Asked) -> running.Facts:
    """One for a server that runs; it is closed when that is stopped."""
    flags = ["browser", "--while-server", *asked.browser_flags]

    def up() -> running.Facts | None:
        facts = running.find(home)
        return facts if facts is not None and _has_browser(facts) else None

    return _start(home, flags, up, "The browser", BROWSER_PATIENCE_SECONDS)


def _start(
    home: Home,
    arguments: Sequence[str],
    look: Callable[[], running.Facts | None],
    what: str,
    seconds: float,
) -> running.Facts:
    """Start a process of tabhub, and come back when there is what it is to bring."""
    home.log.touch(mode=0o600)
    with home.log.open("ab") as log:
        begun = log.tell()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tabhub", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        facts = look()
        if process.poll() is not None:
            raise Unavailable(_last_words(home, begun))
        if facts is not None:
            return facts
        time.sleep(LOOK_SECONDS)
    process.terminate()
    raise Unavailable(f"{what} did not answer within {seconds:.0f} s; see {home.log}.")


def _last_words(home: Home, begun: int) -> str:
    """What the process said before it ended."""
    with home.log.open("rb") as log:
        log.seek(begun)
        said = log.read().decode(errors="replace").splitlines()
    told = [line for line in said if line.startswith("tabhub: ")] or said[-1:]
    return told[-1].removeprefix("tabhub: ") if told else f"It ended at once; see {home.log}."


STOP_SECONDS = 15.0


def stop() -> None:
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
    limit = time.monotonic() + STOP_SECONDS
    while not look():
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True
