"""`tabhub start --background` and `tabhub stop`: servers that run without a terminal."""

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
from tabhub.cli.own_program import command_text, program_text
from tabhub.cli.server.server_status import described_all, no_browser
from tabhub.cli.waiting import WaitingLine
from tabhub.config import environment
from tabhub.config.files import locked
from tabhub.config.paths import Home
from tabhub.errors import Unavailable
from tabhub.permissions.sites import site_of
from tabhub.system.processes import is_alive, leading_group
from tabhub.system.signals import reach_others

START_SECONDS = 30.0
BROWSER_START_SECONDS = 90.0
"""Longer than the server itself waits for its browser, so that its own error is printed."""
STOP_SECONDS = 15.0
POLL_SECONDS = 0.05


@dataclass(frozen=True)
class BackgroundRequest:
    """The options of `tabhub start --background`."""

    flags: Sequence[str]
    """All flags for the server."""
    browser_flags: Sequence[str]
    only_at_start: Sequence[str]
    """Those of the flags that a running server cannot adopt."""
    browser: bool
    port: int | None
    sse_port: int | None
    while_used: bool
    """A bridge asks, which can use any server."""


def run(request: BackgroundRequest) -> None:
    home = Home.from_environment().create()
    what = "the server and a browser" if request.browser else "the server"
    with WaitingLine(f"Starting {what}"):
        is_new, facts = ensure(home, request)
    _print("tabhub runs" if is_new else "tabhub already runs", facts)
    named = environment.port_from_environment()
    if named not in (None, facts["port"]):
        where = f"{environment.PORT} names port {named}, where all other commands look"
        print(f"{where}: set it to {facts['port']}, or unset it.", file=sys.stderr)
    _warn_of_dev_mode(home, request)


def ensure(home: Home, request: BackgroundRequest) -> tuple[bool, running.Facts]:
    """Start a server unless one runs; the lock makes parallel commands wait and find it.

    Returns whether it is a new one, and its status.
    """
    with locked(home.pid):
        known = running.find(home)
        if known is None:
            running.refuse_second(home)
            return True, _start_server(home, request)
        join = _join_for_bridge if request.while_used else _join
        return False, join(home, request, known)


def _warn_of_dev_mode(home: Home, request: BackgroundRequest) -> None:
    """As a server with a terminal says it, also about one that runs already."""
    trusted = (running.find(home) or {}).get("trustedPlugins", [])
    if trusted or "--dev" in request.flags:
        print(f"WARNING: {running.dev_mode_warning(trusted)}", file=sys.stderr)


def _join_for_bridge(home: Home, request: BackgroundRequest, known: running.Facts) -> running.Facts:
    """A bridge can use any server and any browser."""
    if not request.browser or known["browsers"] or known["starting"]:
        return known
    return _start_browser(home, request)


def _join(home: Home, request: BackgroundRequest, known: running.Facts) -> running.Facts:
    """The running server, with a browser if requested; an error if its options differ."""
    for flag, requested, actual in (
        ("--port", request.port, known["port"]),
        ("--sse-port", request.sse_port, known["ssePort"]),
    ):
        if requested and requested != actual:
            raise _differs(f"not with {flag} {requested}", known)
    if request.only_at_start:
        raise _differs(f"and takes {', '.join(request.only_at_start)} only at its start", known)
    running.make_permanent(home)
    if not request.browser or _has_browser(known):
        return known
    return _start_browser(home, request)


def _has_browser(facts: running.Facts) -> bool:
    return any(browser["ready"] and browser["kind"] == "managed" for browser in facts["browsers"])


def _differs(how: str, known: running.Facts) -> Unavailable:
    where = f"on port {known['port']} (pid {known['pid']})"
    return Unavailable(f"A server already runs {where}, {how}. `{command_text('stop')}` stops it.")


def _print(what: str, facts: running.Facts) -> None:
    command = program_text()
    print(f"{what} on http://127.0.0.1:{facts['port']} (pid {facts['pid']}).")
    for browser in described_all(facts["browsers"]):
        print(f"Browser: {browser}.")
    if not facts["browsers"]:
        print(no_browser())
    if facts.get("demo"):
        print(f"Demo shop: {facts['demo']}")
        print(f"  its tools: {command} tool list --plugin {site_of(facts['demo'])}")
    print(f"Connect an agent: {command} connect AGENT (claude-code, cursor, codex, ...)")
    print(f"  or by hand, with the blocks of: {command} start --show-config")


def _start_server(home: Home, request: BackgroundRequest) -> running.Facts:
    seconds = BROWSER_START_SECONDS if request.browser else START_SECONDS

    def up() -> running.Facts | None:
        # Its flag counts for the new server, not what TABHUB_PORT says to all other commands.
        known = None if request.port is None else running.read_pid_file(home)
        facts = running.find(home, None if known is None else known.port)
        return None if facts is None or facts["starting"] else facts

    return _start(home, ["start", *request.flags], up, "The server", seconds)


def _start_browser(home: Home, request: BackgroundRequest) -> running.Facts:
    """Start a browser for the running server; it closes when the server stops."""
    flags = ["browser", "--while-server", *request.browser_flags]

    def up() -> running.Facts | None:
        facts = running.find(home)
        return facts if facts is not None and _has_browser(facts) else None

    return _start(home, flags, up, "The browser", BROWSER_START_SECONDS)


def _start(
    home: Home,
    arguments: Sequence[str],
    look: Callable[[], running.Facts | None],
    what: str,
    seconds: float,
) -> running.Facts:
    """Start a tabhub process, and return once `look` finds what it provides."""
    home.log.touch(mode=0o600)
    with home.log.open("ab") as log:
        log_start = log.tell()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tabhub", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            **leading_group(),
        )
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        facts = look()
        if process.poll() is not None:
            raise Unavailable(_last_error(home, log_start))
        if facts is not None:
            return facts
        time.sleep(POLL_SECONDS)
    process.terminate()
    raise Unavailable(f"{what} did not answer within {seconds:.0f} s; see {home.log}.")


def _last_error(home: Home, log_start: int) -> str:
    """The last error that the process printed before it ended."""
    with home.log.open("rb") as log:
        log.seek(log_start)
        lines = log.read().decode(errors="replace").splitlines()
    errors = [line for line in lines if line.startswith("tabhub: ")] or lines[-1:]
    return errors[-1].removeprefix("tabhub: ") if errors else f"It ended at once; see {home.log}."


def stop() -> None:
    with running.skipping_timed_out_ports():
        _stop(Home.from_environment())


def _stop(home: Home) -> None:
    facts = running.find(home)
    if facts is not None:
        _stop_server(home, facts["pid"])
        _close_browser(home)
        return
    elsewhere = running.describe_elsewhere(home)
    reasons = filter(None, ("No server is running.", running.describe_unresponsive(home)))
    print(elsewhere or "\n".join(reasons))
    # A server of this home on another port still manages its browser.
    is_managed = elsewhere is not None and running.has_live_process(home)
    if is_managed or not _close_browser(home):
        sys.exit(NOT_REACHABLE)


def _stop_server(home: Home, pid: int) -> None:
    # The pid is from the server's own report: a pid file may be out of date.
    if reach_others():
        os.kill(pid, signal.SIGTERM)
    else:
        running.ask_to_stop(home, pid)
    if not _within_stop_seconds(lambda: _is_gone(home, pid)):
        print(f"tabhub (pid {pid}) did not stop.", file=sys.stderr)
        sys.exit(FAILED)
    print("Stopped.")


def _is_gone(home: Home, pid: int) -> bool:
    """Whether the server has cleaned up: removing its pid file is the last thing it does."""
    known = running.read_pid_file(home)
    return known is None or known.pid != pid or not is_alive(pid)


def _close_browser(home: Home) -> bool:
    """Close a browser that no process manages any more, or mention one that stays open."""
    _remove_stale_pid_file(home)
    known = keeper(home.profile)
    if known is not None and known.leaves_with_server:
        closed = _within_stop_seconds(lambda: keeper(home.profile) is None)
        return _print_closed("Its browser", closed)
    pid = asyncio.run(end_left_behind(home))
    if pid is not None:
        return _print_closed(f"The browser that an earlier run left behind (pid {pid})", True)
    if keeper(home.profile) is not None and (still := open_in(home)) is not None:
        command = command_text("browser")
        print(f"A browser of `{command}` is still open (pid {still.pid}); close it there.")
    return False


def _print_closed(which: str, closed: bool) -> bool:
    print(f"{which} is closed." if closed else f"{which} did not close.")
    return closed


def _remove_stale_pid_file(home: Home) -> None:
    """A killed server's pid file would keep its browser waiting for another server."""
    known = running.read_pid_file(home)
    if known is not None and not is_alive(known.pid):
        home.pid.unlink(missing_ok=True)


def _within_stop_seconds(look: Callable[[], bool]) -> bool:
    limit = time.monotonic() + STOP_SECONDS
    with WaitingLine("Stopping"):
        while not look():
            if time.monotonic() > limit:
                return False
            time.sleep(POLL_SECONDS)
    return True
