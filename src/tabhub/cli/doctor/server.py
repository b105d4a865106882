"""The server: whether it runs, where, and how."""

import errno
import socket
from collections.abc import Iterator

from tabhub import __version__
from tabhub.cli import running
from tabhub.cli.doctor.finding import Finding, fail, ok, warn
from tabhub.cli.doctor.visit import Visit
from tabhub.config import secret
from tabhub.config.keys import LIVE

START, RESTART = "tabhub start", "tabhub stop; tabhub start"


def server(visit: Visit) -> Iterator[Finding]:
    facts = visit.server
    if facts is None:
        yield warn("No server is running.", START)
    elif facts["version"] != __version__:
        yield warn(f"The server is {facts['version']}, this command is {__version__}.", RESTART)
    else:
        yield ok(f"tabhub {facts['version']} runs (pid {facts['pid']}).")


def pid(visit: Visit) -> Iterator[Finding]:
    """A pid file without its server."""
    known = running.read(visit.home)
    if known is None or visit.server is not None:
        return
    said = running.silent(visit.home) or ""
    if running.is_alive(known.pid):
        yield fail(said, f"kill {known.pid}, if it is tabhub")
    else:
        yield warn(f"{said} It left {visit.home.pid}.", START)


def port(visit: Visit) -> Iterator[Finding]:
    if visit.server is not None:
        yield ok(f"Port {visit.port} is ours.")
        yield from _known_to_extension(visit)
        return
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((visit.settings.host, visit.port))
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = _whose(visit.port) if taken else f"cannot be used: {error.strerror}"
        yield fail(f"Port {visit.port} {why}.", "tabhub start --port 0 (takes a free one)")
    else:
        yield ok(f"Port {visit.port} is free.")


def _whose(port: int) -> str:
    if running.is_tabhub(port):
        return "is taken by a tabhub of another home (TABHUB_HOME), or with another secret"
    return "is taken by another program"


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
