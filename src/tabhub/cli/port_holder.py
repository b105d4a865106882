"""A port that another program has: which program it is, and how to use another port for good."""

import errno
import socket
from typing import NamedTuple

from tabhub.cli import running
from tabhub.cli.own_program import command_text
from tabhub.config import environment, settings
from tabhub.config.paths import Home
from tabhub.config.settings import DEFAULT_PORT
from tabhub.errors import Unavailable
from tabhub.system import processes
from tabhub.system.ports import set_sharing

LAST_PORT, FIRST_UNPRIVILEGED = 65535, 1024


class PortSetting(NamedTuple):
    """Where the number of a port comes from; the first that is given counts."""

    flag: str
    variables: tuple[str, ...]
    key: str

    def other(self, port: int, *, by_flag: bool = False) -> str:
        """What to type or set instead, in the same place, with a number that is free now."""
        number = _next_free(port)
        variable = environment.first_set(*self.variables)
        if by_flag:
            return f"{self.flag} {number}"
        if variable is not None:
            return f"set {variable} to {number}"
        return command_text("config", "set", self.key, str(number))


MAIN = PortSetting("--port", (environment.PORT, "PORT"), "port")
SECOND = PortSetting("--sse-port", (environment.SSE_PORT,), "mcpServer.port")


def whose(port: int) -> str:
    """Which program has a port; follows its number."""
    pid = processes.listener(port)
    who = "" if pid is None else f": {processes.name(pid)} (pid {pid})"
    if running.is_tabhub(port):
        return f"is used by a tabhub of another home (TABHUB_HOME), or with another secret{who}"
    return f"is used by another program{who}"


def refusal(
    home: Home, error: OSError, port: int, setting: PortSetting = MAIN, *, by_flag: bool = False
) -> Unavailable:
    """Why a server cannot listen on a port, and what to do."""
    other = setting.other(port, by_flag=by_flag)
    if error.errno != errno.EADDRINUSE:
        return Unavailable(f"Port {port} cannot be used: {error.strerror}. Use another: {other}")
    return Unavailable(
        _own_server(home, port) or f"Port {port} {whose(port)}. Use another: {other}"
    )


def taken(home: Home) -> str | None:
    """A sentence about the program that has the port of this home, if no server of it answers."""
    port = environment.chosen_port(None, settings.load(home))
    if not running.is_listening(port):
        return None
    return _own_server(home, port) or f"Port {port} {whose(port)}. Use another: {MAIN.other(port)}"


def not_running(home: Home) -> running.NotRunning:
    """Why no server of this home answers, and what to do: another one or another program may have
    its port, or its own process hangs."""
    elsewhere = running.describe_elsewhere(home)
    if elsewhere is not None:
        return running.NotRunning(says=elsewhere)
    unresponsive = running.describe_unresponsive(home)
    if unresponsive is not None and running.has_live_process(home):
        return running.NotRunning(unresponsive)
    do = taken(home) or running.how_to_start()
    return running.NotRunning(f"{unresponsive} {do}" if unresponsive else do)


def require_own(home: Home, port: int) -> None:
    """Raise if another program has the port, for it would get every token that is sent there."""
    if running.find(home) is None and running.is_listening(port):
        raise Unavailable(
            _own_server(home, port)
            or f"Port {port} {whose(port)}, which would get the token. Use another:"
            f" {MAIN.other(port)}"
        )


def _own_server(home: Home, port: int) -> str | None:
    """A sentence about this home's own server, if it has the port and does not answer."""
    known = running.read_pid_file(home)
    if known is None or known.port != port or processes.listener(port) != known.pid:
        return None
    return running.describe_unresponsive(home)


def _next_free(port: int) -> int:
    first = port + 1 if port >= FIRST_UNPRIVILEGED else DEFAULT_PORT
    free = (number for number in range(first, LAST_PORT + 1) if _is_free(number))
    return next(free, DEFAULT_PORT)


def _is_free(port: int) -> bool:
    try:
        with socket.socket() as probe:
            set_sharing(probe)
            probe.bind((running.LOOPBACK, port))
    except OSError:
        return False
    return True
