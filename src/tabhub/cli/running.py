"""The running server, as commands see it: its pid file, its health, and how to start another.

A command sends the secret only to a server that has proved to know it.
"""

import os
import secrets
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from tabhub.cli.own_program import command_text
from tabhub.cli.waiting import WaitingLine
from tabhub.config import environment, settings
from tabhub.config.clients import hash_of, label_of
from tabhub.config.files import write_private
from tabhub.config.paths import Home
from tabhub.config.secret import Auth, is_proof, is_proof_to_client, load
from tabhub.config.settings import LevelWord
from tabhub.errors import TabhubError, Unavailable, from_reason
from tabhub.system.processes import how_to_end, is_alive, is_own

LOOPBACK = "127.0.0.1"
RESPONSE_SECONDS = 3.0
RELOAD_SECONDS = 10.0
EXIT_SECONDS = 2.0
POLL_SECONDS = 0.05
TOO_MANY_REQUESTS = 429
Facts = dict[str, Any]
"""A JSON object from the server."""
_timed_out: ContextVar[set[int] | None] = ContextVar("timed_out", default=None)


class NotRunning(Unavailable):
    """No server of this home answers."""

    def __init__(self, hint: str = "", *, says: str | None = None) -> None:
        port = environment.port_from_environment()
        where = "" if port is None else f" on port {port}, which {environment.PORT} names"
        super().__init__(says or f"No server is running{where}. {hint or how_to_start()}")


def how_to_start() -> str:
    """What to do when no server runs, as every command says it."""
    return f"Start it: {command_text('start', '--background')}"


class PidFile(msgspec.Struct):
    """What a server leaves in its home while it runs."""

    pid: int
    port: int
    while_used: bool = False
    """Whether it stops after a while without clients."""
    is_asked_to_stop: bool = False
    """Whether another process asks it to stop, where no signal can."""


def dev_mode_warning(trusted: list[str]) -> str:
    """What every command says about plugins that a server in dev mode trusts."""
    names = ", ".join(trusted) or "plugins in folders that you link"
    verb = "runs" if len(trusted) == 1 else "run"
    return f"DEV MODE: {names} {verb} WITHOUT A REVIEW until this server ends."


def read_pid_file(home: Home) -> PidFile | None:
    try:
        return msgspec.json.decode(home.pid.read_bytes(), type=PidFile)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def write_pid_file(home: Home, port: int, *, while_used: bool = False) -> None:
    write_private(home.pid, msgspec.json.encode(PidFile(os.getpid(), port, while_used)))


def remove_pid_file(home: Home) -> None:
    """Remove the file if it is this process's own."""
    known = read_pid_file(home)
    if known is not None and known.pid == os.getpid():
        home.pid.unlink(missing_ok=True)


def make_permanent(home: Home) -> None:
    """Keep the running server running, used or not."""
    known = read_pid_file(home)
    if known is not None and known.while_used:
        write_private(home.pid, msgspec.json.encode(PidFile(known.pid, known.port)))


def ask_to_stop(home: Home, pid: int) -> None:
    """Ask the server of the pid file to stop, where no signal can."""
    known = read_pid_file(home)
    if known is not None and known.pid == pid:
        asked = msgspec.structs.replace(known, is_asked_to_stop=True)
        write_private(home.pid, msgspec.json.encode(asked))


def is_asked_to_stop(home: Home) -> bool:
    """Whether this process is asked to stop."""
    known = read_pid_file(home)
    return known is not None and known.pid == os.getpid() and known.is_asked_to_stop


def has_live_process(home: Home) -> bool:
    """Whether the process that the pid file names is alive."""
    known = read_pid_file(home)
    return known is not None and known.pid > 0 and is_alive(known.pid)


def live_calls(home: Home) -> str:
    """How the ids of calls of this home's server begin, in the audit log; empty if none runs."""
    known = read_pid_file(home)
    # Another program may have the number of a killed server, so the server itself has to answer.
    return "" if known is None or reach(home) is None else f"{known.pid}-"


def is_hung(known: PidFile) -> bool:
    """Whether the process of a pid file lives on; a killed one gets a moment to end."""
    limit = time.monotonic() + EXIT_SECONDS
    while known.pid > 0 and is_alive(known.pid):
        if time.monotonic() > limit or is_listening(known.port):
            return True
        time.sleep(POLL_SECONDS)
    return False


def describe_unresponsive(home: Home) -> str | None:
    """A sentence about a server that has left its pid file and does not answer."""
    known = read_pid_file(home)
    if known is None:
        return None
    if is_hung(known):
        return (
            f"Its pid file names the process {known.pid}, which runs but does not answer on port"
            f" {known.port}. If that is tabhub, end it: {how_to_end(known.pid)}"
        )
    return f"The last server (pid {known.pid}) ended without cleaning up, which does no harm."


def describe_elsewhere(home: Home) -> str | None:
    """A sentence about a server on another port than commands use, or of another home."""
    expected, known = expected_port(home), find_elsewhere(home)
    why = " (TABHUB_PORT)" if environment.port_from_environment() is not None else ""
    if known is not None:
        return (
            f"No server of this home is on port {expected}{why}. It runs on port {known.port}"
            f" (pid {known.pid}): unset TABHUB_PORT."
        )
    if is_tabhub(expected):
        return (
            f"The tabhub on port {expected}{why} belongs to another home or has another secret."
            " TABHUB_HOME selects the home."
        )
    return None


def find_elsewhere(home: Home) -> PidFile | None:
    """This home's own server, if it is on another port than the environment names."""
    known, auth = read_pid_file(home), load(home)
    if known is None or auth is None or known.port == expected_port(home):
        return None
    return known if _knows_secret(known.port, auth.secret) else None


def refuse_second(home: Home) -> None:
    """Raise if this home has a server on another port: the second would hide the first from all
    commands, `stop` too."""
    known = find_elsewhere(home)
    if known is not None:
        raise Unavailable(
            f"A server of this home already runs on port {known.port} (pid {known.pid})."
            f" {environment.PORT} names another: unset it, or stop that one first."
        )


def expected_port(home: Home) -> int:
    """The port by the environment, else by the pid file, else by the settings."""
    port = environment.port_from_environment()
    if port is not None:
        return port
    known = read_pid_file(home)
    return settings.load(home).port if known is None else known.port


def find(home: Home, port: int | None = None) -> Facts | None:
    """The health report of this home's server, with its port; None if none runs."""
    auth = reach(home, port)
    if auth is None:
        return None
    health = _get(auth.port, "/health", _bearer(auth))
    return None if health is None else {**health, "port": auth.port}


def reach(home: Home, port: int | None = None) -> Auth | None:
    """The secret, and the port of a server that has proved to know it."""
    auth = load(home)
    port = expected_port(home) if port is None else port
    return None if auth is None or not _knows_secret(port, auth.secret) else Auth(auth.secret, port)


def is_listening(port: int, host: str = LOOPBACK) -> bool:
    """Whether any program listens on the port, even one that does not answer."""
    try:
        socket.create_connection((host, port), RESPONSE_SECONDS).close()
    except OSError:
        return False
    return True


def is_tabhub(port: int) -> bool:
    """Whether a tabhub listens on the port, of this home or another."""
    health = _get(port, "/health?challenge=0", {})
    return health is not None and isinstance(health.get("proof"), str)


def answers(port: int) -> bool:
    """Whether the program on the port answers by HTTP, even with a refusal."""
    return _request("GET", port, "/health", {}) is not None


def probe(port: int, path: str, host: str = LOOPBACK) -> str | None:
    """What a program of ours refuses a request with, empty if it does not; None if none answers."""
    response = _request("GET", port, path, {}, host=host)
    if response is None:
        return None
    return "" if response.status == 200 else response.error()


def is_open(port: int) -> bool:
    """Whether the server gives its full report without a token."""
    health = _get(port, "/health", {})
    return health is not None and "pid" in health


def knows_token(port: int, token: str) -> bool:
    """Whether the server on the port proves to know a client's token, or the secret itself."""
    challenge, hash = secrets.token_hex(16), hash_of(token)
    health = _get(port, f"/health?challenge={challenge}&client={label_of(hash)}", {})
    if health is None:
        raise NotRunning
    return is_proof_to_client(health.get("clientProof"), hash, challenge, port) or is_proof(
        health.get("proof"), token, challenge, port
    )


def _knows_secret(port: int, secret: str) -> bool:
    challenge = secrets.token_hex(16)
    health = _get(port, f"/health?challenge={challenge}", {})
    return health is not None and is_proof(health.get("proof"), secret, challenge, port)


def current_settings(home: Home) -> Facts | None:
    """The running server's settings, and the keys whose value in the file differs."""
    auth = reach(home)
    return None if auth is None else _get(auth.port, "/settings", _bearer(auth))


def audit(home: Home, query: Facts) -> list[Facts]:
    """The newest entries in the running server's memory that match the query."""
    auth = reach(home)
    if auth is None:
        raise NotRunning(f"`{command_text('audit', '--file')}` reads the entries on disk.")
    encoded = urlencode({key: str(value) for key, value in query.items()})
    entries = _expect_ok(_request("GET", auth.port, f"/audit?{encoded}", _bearer(auth)))
    return msgspec.convert(entries, list[Facts])


def whose(browser: Facts) -> str:
    return "started by tabhub" if browser["kind"] == "managed" else "your own"


def audit_trouble(state: Facts) -> str:
    """A sentence about an audit log that cannot be written."""
    return (
        f"The audit log cannot be written ({state['fault']}): {state['waiting']} lines wait in "
        f"memory, {state['lost']} about refused calls are lost."
    )


def allow_page(home: Home, origin: str, code: str | None, level: LevelWord | None) -> Facts:
    """Make the running server pair the page of an origin that waits, or else the next one."""
    auth = reach(home)
    if auth is None:
        raise NotRunning(f"Only a running server pairs pages. {how_to_start()}")
    sent = {"origin": origin, "code": code, "level": level}
    answer = post(auth.port, "/pages/allow", auth.secret, sent)
    if answer is None:
        raise Unavailable("The server did not answer.")
    return answer


def confirm_extension(home: Home, code: str) -> Facts:
    """Make the running server pair the extension that shows this code."""
    auth = reach(home)
    if auth is None:
        raise NotRunning(f"Only a running server pairs extensions. {how_to_start()}")
    answer = post(auth.port, "/extension/pair/confirm", auth.secret, {"code": code})
    if answer is None:
        raise Unavailable("The server did not answer.")
    return answer


def post(
    port: int,
    path: str,
    token: str,
    body: Facts,
    seconds: float = RESPONSE_SECONDS,
    host: str = LOOPBACK,
) -> Facts | None:
    """What a program of ours on a port answers, or its error; None if nobody answers."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    encoded = msgspec.json.encode(body)
    response = _request("POST", port, path, headers, encoded, seconds=seconds, host=host)
    if response is None:
        return None
    if response.status != 200 and (reason := response.reason()):
        raise from_reason(reason, response.error())
    return msgspec.convert(_expect_ok(response), Facts)


def configure_plugin(home: Home, plugin: str, settings: Facts) -> bool:
    """Make the running server check and store settings of a plugin.

    False if none runs, or if programs have used up its rate, which is not meant for a person.
    """
    auth = reach(home)
    if auth is None:
        return False
    body = msgspec.json.encode({"plugin": plugin, "settings": settings})
    headers = {**_bearer(auth), "Content-Type": "application/json"}
    response = _request("POST", auth.port, "/plugin-settings", headers, body)
    if response is not None and response.status == TOO_MANY_REQUESTS:
        return False
    if response is not None and response.status != 200 and (reason := response.reason()):
        raise from_reason(reason, response.error())
    _expect_ok(response)
    return True


def reload(home: Home) -> Facts | None:
    """Make the running server read its files again; None if none runs."""
    auth = reach(home)
    if auth is None:
        return None
    try:
        return reload_at(home, auth)
    except TabhubError as error:
        raise Unavailable(
            f"The change is written, but the running server did not take it: {error.message}"
        ) from None


def reload_at(home: Home, auth: Auth) -> Facts:
    """The same for a server that is known by its secret, which may have been replaced since."""
    response = _request("POST", auth.port, "/reload", _bearer(auth))
    if response is not None and response.status == TOO_MANY_REQUESTS:
        return _reload_by_signal(home, auth, response)
    return msgspec.convert(_expect_ok(response), Facts)


def _reload_by_signal(home: Home, auth: Auth, refusal: "_Response") -> Facts:
    """The rate limit is for programs; it must not hold up a person's own commands."""
    before = _get(auth.port, "/health", _bearer(auth))
    number = getattr(signal, str(before and before.get("reloadSignal")), None)
    if before is None or number is None or not is_own(before["pid"]):
        restart = f"{command_text('stop')}; {command_text('start')}"
        raise Unavailable(f"{refusal.error()} Or restart it: {restart}")
    os.kill(before["pid"], number)
    limit = time.monotonic() + RELOAD_SECONDS
    while time.monotonic() < limit:
        after = _health_by_either(home, auth)
        if after is not None and _reload_state(after) != _reload_state(before):
            return _reload_result(home, after)
        time.sleep(POLL_SECONDS)
    raise Unavailable("It was asked to read its files again, but has not confirmed that it did.")


def _reload_result(home: Home, health: Facts) -> Facts:
    if health["lastReloadError"] is not None:
        raise Unavailable(health["lastReloadError"])
    current = current_settings(home)
    return {"restart": [] if current is None else current["differs"]}


def _reload_state(health: Facts) -> tuple[int, int]:
    return health["reloadCount"], health["lastReloadTimestamp"]


def _health_by_either(home: Home, old: Auth) -> Facts | None:
    """By the secret of before, or by the one that the files have now."""
    new = load(home) or old
    for secret in dict.fromkeys((new.secret, old.secret)):
        if _knows_secret(old.port, secret):
            return _get(old.port, "/health", _bearer(Auth(secret, old.port)))
    return None


@contextmanager
def skipping_timed_out_ports() -> Iterator[None]:
    """Within it, a port that has timed out once is not asked again."""
    token = _timed_out.set(set())
    try:
        yield
    finally:
        _timed_out.reset(token)


class _Response(NamedTuple):
    status: int
    body: Any

    def error(self) -> str:
        """The server's own sentence, if it sent one."""
        error = self.body.get("error") if isinstance(self.body, dict) else None
        return str(error["message"] if isinstance(error, dict) else f"status {self.status}")

    def reason(self) -> str | None:
        """The server's reason word, if it sent one."""
        error = self.body.get("error") if isinstance(self.body, dict) else None
        return str(error["reason"]) if isinstance(error, dict) and "reason" in error else None


def _bearer(auth: Auth) -> dict[str, str]:
    return {"Authorization": f"Bearer {auth.secret}"}


def _get(port: int, path: str, headers: dict[str, str]) -> Facts | None:
    response = _request("GET", port, path, headers)
    if response is None or response.status != 200 or not isinstance(response.body, dict):
        return None
    return response.body


def _expect_ok(response: _Response | None) -> Any:
    if response is None or response.status != 200:
        raise Unavailable("The server did not answer." if response is None else response.error())
    return response.body


def _request(
    method: str,
    port: int,
    path: str,
    headers: dict[str, str],
    body: bytes | None = None,
    *,
    seconds: float = RESPONSE_SECONDS,
    host: str = LOOPBACK,
) -> _Response | None:
    timed_out = _timed_out.get()
    if timed_out is not None and port in timed_out:
        return None
    connection = HTTPConnection(host, port, timeout=seconds)
    try:
        with WaitingLine(f"Waiting for an answer on port {port}"):
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return _Response(response.status, msgspec.json.decode(response.read()))
    except TimeoutError:
        if timed_out is not None:
            timed_out.add(port)
        return None
    except (OSError, HTTPException, msgspec.DecodeError):
        return None
    finally:
        connection.close()
