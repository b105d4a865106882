"""The server: whether it runs, where, and how."""

import errno
from collections.abc import Iterator

from tabhub import __version__
from tabhub.cli import running
from tabhub.cli.doctor.finding import Finding, fail, ok, warn
from tabhub.cli.doctor.visit import Visit
from tabhub.config import processes, secret
from tabhub.config.keys import LIVE
from tabhub.config.ports import listener

START, RESTART = "tabhub start", "tabhub stop; tabhub start"
ELSEWHERE = "tabhub start --port 0 (takes a free one)"


def server(visit: Visit) -> Iterator[Finding]:
    facts = visit.server
    if facts is None:
        elsewhere = running.elsewhere(visit.home)
        if elsewhere is None:
            yield warn("No server is running.", _start(visit))
        else:
            yield warn(elsewhere, "name the right one: TABHUB_PORT, TABHUB_HOME")
    elif facts["version"] != __version__:
        yield warn(f"The server is {facts['version']}, this command is {__version__}.", RESTART)
    else:
        yield ok(f"tabhub {facts['version']} runs (pid {facts['pid']}).")


def _start(visit: Visit) -> str:
    return START if visit.port_fault is None else ELSEWHERE


def pid(visit: Visit) -> Iterator[Finding]:
    """A pid file without its server."""
    known = running.read(visit.home)
    if known is None or visit.server is not None or running.elsewhere(visit.home) is not None:
        return
    said = running.silent(visit.home) or ""
    if running.is_hung(known):
        yield fail(said, f"kill {known.pid}, if it is tabhub")
    else:
        yield warn(f"{said} It left {visit.home.pid}.", _start(visit))


def port(visit: Visit) -> Iterator[Finding]:
    if visit.server is not None:
        yield ok(f"Port {visit.port} is ours.")
        yield from _known_to_extension(visit)
        return
    error = visit.port_fault
    if error is None:
        yield ok(f"Port {visit.port} is free.")
    else:
        taken = error.errno == errno.EADDRINUSE
        why = _whose(visit.port) if taken else f"cannot be used: {error.strerror}"
        yield fail(f"Port {visit.port} {why}.", ELSEWHERE)
    yield from _where_it_was(visit)


def _where_it_was(visit: Visit) -> Iterator[Finding]:
    """Commands look for the server where the last one was."""
    known = running.read(visit.home)
    if known is None or known.port == visit.port or not running.is_listening(known.port):
        return
    yield warn(f"Port {known.port}, where the last server was, {_whose(known.port)}.")


def _whose(port: int) -> str:
    pid = listener(port)
    who = "" if pid is None else f": {processes.name(pid)} (pid {pid})"
    if running.is_tabhub(port):
        return f"is taken by a tabhub of another home (TABHUB_HOME), or with another secret{who}"
    return f"is taken by another program{who}"


def _known_to_extension(visit: Visit) -> Iterator[Finding]:
    stored = secret.load(visit.home)
    if stored is not None and stored.port != visit.port:
        yield fail(f"The extension looks for port {stored.port}.", RESTART)


def in_force(visit: Visit) -> Iterator[Finding]:
    """Whether the server holds what the settings file says."""
    told = running.in_force(visit.home) if visit.server is not None else None
    if visit.server is None or told is None or told["fault"] is not None:
        # What is wrong with the file, another check tells.
        return
    unread = [key for key in told["differs"] if key in LIVE]
    waiting = [key for key in told["differs"] if key not in LIVE]
    if unread:
        said = f"The server has not read {visit.home.config} again: {', '.join(unread)} differ."
        yield warn(said, f"kill -HUP {visit.server['pid']}")
    if waiting:
        yield warn(f"The server takes {', '.join(waiting)} at its next start.", RESTART)


def openness(visit: Visit) -> Iterator[Finding]:
    """What makes the running server less safe than usual."""
    facts = visit.server
    if facts is None:
        return
    if running.is_open(visit.port):
        yield warn("The server asks nobody for a token (--no-auth).", RESTART)
    if facts["skipPermissions"]:
        yield warn(
            "Permissions are SKIPPED: nobody is asked.",
            "start without TABHUB_DANGEROUSLY_SKIP_PERMISSIONS, or switch it off in the panel",
        )
    if facts["stopped"]:
        yield warn("All agents are stopped.", "the side panel lets them go on")
