"""Finding the running server. The secret is given to nobody who has not shown to know it."""

import os
import secrets
import shlex
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from tabhub.config import environment, settings
from tabhub.config.clients import hash_of, label_of
from tabhub.config.files import write_private
from tabhub.config.paths import Home
from tabhub.config.processes import is_alive
from tabhub.config.secret import Auth, is_proof, is_proof_to_client, load
from tabhub.errors import TabhubError, Unavailable

ANSWER_SECONDS = 3.0
RELOAD_SECONDS = 10.0
ENDING_SECONDS, LOOK_SECONDS = 2.0, 0.05
TOO_OFTEN = 429
Facts = dict[str, Any]
_silent: ContextVar[set[int] | None] = ContextVar("silent", default=None)


class NotRunning(Unavailable):
    """No server of this home answers."""

    def __init__(self, hint: str = "Start it: tabhub start") -> None:
        port = environment.port_from_environment()
        where = "" if port is None else f" on port {port}, which {environment.PORT} names"
        super().__init__(f"No server is running{where}. {hint}")


class PidFile(msgspec.Struct):
    """What a server leaves in its home while it runs."""

    pid: int
    port: int
    while_used: bool = False
    """Whether it stops when nobody has used it for a while."""


def write(home: Home, port: int, *, while_used: bool = False) -> None:
    write_private(home.pid, msgspec.json.encode(PidFile(os.getpid(), port, while_used)))


def make_permanent(home: Home) -> None:
    """Have the running server stay, used or not."""
    known = read(home)
    if known is not None and known.while_used:
        write_private(home.pid, msgspec.json.encode(PidFile(known.pid, known.port)))


def remove(home: Home) -> None:
    """Take our own file away; another server's stays."""
    known = read(home)
    if known is not None and known.pid == os.getpid():
        home.pid.unlink(missing_ok=True)


def read(home: Home) -> PidFile | None:
    try:
        return msgspec.json.decode(home.pid.read_bytes(), type=PidFile)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def is_left(home: Home) -> bool:
    """Whether a server has a pid file here, and its process is there."""
    known = read(home)
    return known is not None and known.pid > 0 and is_alive(known.pid)


def silent(home: Home) -> str | None:
    """About a server that has left its pid file and does not answer."""
    known = read(home)
    if known is None:
        return None
    if is_hung(known):
        return (
            f"Its pid file names the process {known.pid}, which runs but does not answer on port"
            f" {known.port}. If that is tabhub, end it: kill {known.pid}"
        )
    return f"The last one (pid {known.pid}) ended without tidying up, which does no harm."


def elsewhere(home: Home) -> str | None:
    """About a server that is there, but not where commands look, or not of this home."""
    looked, known, auth = expected_port(home), read(home), load(home)
    why = " (TABHUB_PORT)" if environment.port_from_environment() is not None else ""
    if known is not None and known.port != looked and auth is not None:
        if _knows_secret(known.port, auth.secret):
            return (
                f"No server of this home is on port {looked}{why}. It runs on port {known.port}"
                f" (pid {known.pid}): unset TABHUB_PORT."
            )
    if is_tabhub(looked):
        return (
            f"A tabhub is on port {looked}{why}, but of another home, or with another secret."
            " TABHUB_HOME names the home."
        )
    return None


def is_hung(known: PidFile) -> bool:
    """Whether the process of a pid file lives on; one that has just been killed gets a moment."""
    limit = time.monotonic() + ENDING_SECONDS
    while known.pid > 0 and is_alive(known.pid):
        if time.monotonic() > limit or is_listening(known.port):
            return True
        time.sleep(LOOK_SECONDS)
    return False


def is_listening(port: int) -> bool:
    """Whether somebody has a port open here, answering or not."""
    try:
        socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS).close()
    except OSError:
        return False
    return True


@contextmanager
def asking_once() -> Iterator[None]:
    """For one look around: who has a port and says nothing is waited for once."""
    token = _silent.set(set())
    try:
        yield
    finally:
        _silent.reset(token)


def find(home: Home) -> Facts | None:
    """What the server of this home says of itself, with its port; None when there is none."""
    auth = reach(home)
    if auth is None:
        return None
    told = _get(auth.port, "/health", _bearer(auth))
    return None if told is None else {**told, "port": auth.port}


def reach(home: Home) -> Auth | None:
    """The secret, and the port where somebody has shown to know it."""
    auth = load(home)
    port = expected_port(home)
    return None if auth is None or not _knows_secret(port, auth.secret) else Auth(auth.secret, port)


def is_tabhub(port: int) -> bool:
    """Whether some tabhub is at a port, ours or not."""
    told = _get(port, "/health?challenge=0", {})
    return told is not None and isinstance(told.get("proof"), str)


def answers(port: int) -> bool:
    """Whether somebody speaks HTTP there, if only to say that there is no place."""
    return _ask("GET", port, "/health", {}) is not None


def is_open(port: int) -> bool:
    """Whether a server tells everything to somebody without a token."""
    told = _get(port, "/health", {})
    return told is not None and "pid" in told


def reload(home: Home) -> Facts | None:
    """Have the running server read its files again; None if there is none."""
    auth = reach(home)
    if auth is None:
        return None
    try:
        return reload_at(home, auth)
    except TabhubError as error:
        said = f"It is written, but the running server did not take it: {error.message}"
        raise Unavailable(said) from None


def reload_at(home: Home, auth: Auth) -> Facts:
    """The same for one that has proved itself by a secret, which may be an old one by now."""
    answer = _ask("POST", auth.port, "/reload", _bearer(auth))
    if answer is not None and answer.status == TOO_OFTEN:
        return _reload_by_signal(home, auth, answer)
    return msgspec.convert(_said(answer), Facts)


def in_force(home: Home) -> Facts | None:
    """The running server's settings, and where the file says otherwise."""
    auth = reach(home)
    return None if auth is None else _get(auth.port, "/settings", _bearer(auth))


def _reload_by_signal(home: Home, auth: Auth, refused: "_Answer") -> Facts:
    """A person's own commands are not held up by how often programs may ask."""
    before = _get(auth.port, "/health", _bearer(auth))
    number = getattr(signal, str(before and before.get("reloadSignal")), None)
    if before is None or number is None or not _is_ours(before["pid"]):
        raise Unavailable(f"{refused.error()} Or start it anew: tabhub stop; tabhub start")
    os.kill(before["pid"], number)
    limit = time.monotonic() + RELOAD_SECONDS
    while time.monotonic() < limit:
        after = _health_by_either(home, auth)
        if after is not None and _reloads(after) != _reloads(before):
            return _taken(home, after)
        time.sleep(LOOK_SECONDS)
    raise Unavailable("It was told to read its files again, and has not said that it did.")


def _taken(home: Home, health: Facts) -> Facts:
    if health["lastReloadError"] is not None:
        raise Unavailable(health["lastReloadError"])
    known = in_force(home)
    return {"restart": [] if known is None else known["differs"]}


def _reloads(health: Facts) -> tuple[int, int]:
    return health["reloadCount"], health["lastReloadTimestamp"]


def _health_by_either(home: Home, old: Auth) -> Facts | None:
    """By the secret that was, or by the one that the files have now."""
    new = load(home) or old
    for secret in dict.fromkeys((new.secret, old.secret)):
        if _knows_secret(old.port, secret):
            return _get(old.port, "/health", _bearer(Auth(secret, old.port)))
    return None


def _is_ours(pid: int) -> bool:
    """Whether this process may be told something: it is this user's, where that can be seen."""
    try:
        return is_alive(pid) and os.stat(f"/proc/{pid}").st_uid == os.geteuid()
    except FileNotFoundError:
        # Without /proc, the system itself refuses to signal another user's.
        return not os.path.exists("/proc")


def audit(home: Home, query: Facts) -> list[Facts]:
    """The newest entries that the running server remembers, of those that fit."""
    auth = reach(home)
    if auth is None:
        raise NotRunning("`tabhub audit --file` reads what was written to disk.")
    asked = urlencode({key: str(value) for key, value in query.items()})
    told = _said(_ask("GET", auth.port, f"/audit?{asked}", _bearer(auth)))
    return msgspec.convert(told, list[Facts])


def _bearer(auth: Auth) -> dict[str, str]:
    return {"Authorization": f"Bearer {auth.secret}"}


def expected_port(home: Home) -> int:
    """Where it may be: where the environment says, where the pid file says, where it is set to."""
    named = environment.port_from_environment()
    if named is not None:
        return named
    known = read(home)
    return settings.load(home).port if known is None else known.port


def _knows_secret(port: int, secret: str) -> bool:
    challenge = secrets.token_hex(16)
    told = _get(port, f"/health?challenge={challenge}", {})
    return told is not None and is_proof(told.get("proof"), secret, challenge, port)


def knows_token(port: int, token: str) -> bool:
    """Whether who listens there has shown to know a client's token, or that this is the secret."""
    challenge, hash = secrets.token_hex(16), hash_of(token)
    told = _get(port, f"/health?challenge={challenge}&client={label_of(hash)}", {})
    if told is None:
        raise NotRunning
    return is_proof_to_client(told.get("clientProof"), hash, challenge, port) or is_proof(
        told.get("proof"), token, challenge, port
    )


def _get(port: int, path: str, headers: dict[str, str]) -> Facts | None:
    answer = _ask("GET", port, path, headers)
    if answer is None or answer.status != 200 or not isinstance(answer.told, dict):
        return None
    return answer.told


class _Answer(NamedTuple):
    status: int
    told: Any

    def error(self) -> str:
        """The server's own sentence, if it is one of ours."""
        error = self.told.get("error") if isinstance(self.told, dict) else None
        return str(error["message"] if isinstance(error, dict) else f"status {self.status}")


def _said(answer: _Answer | None) -> Any:
    if answer is None or answer.status != 200:
        raise Unavailable("The server did not answer." if answer is None else answer.error())
    return answer.told


def _ask(method: str, port: int, path: str, headers: dict[str, str]) -> _Answer | None:
    silent = _silent.get()
    if silent is not None and port in silent:
        return None
    connection = HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return _Answer(answer.status, msgspec.json.decode(answer.read()))
    except TimeoutError:
        if silent is not None:
            silent.add(port)
        return None
    except (OSError, HTTPException, msgspec.DecodeError):
        return None
    finally:
        connection.close()


def program() -> list[str]:
    """The command, from wherever it is run."""
    script = Path(sys.executable).with_name("tabhub")
    return [str(script)] if script.exists() else [sys.executable, "-P", "-m", "tabhub"]


def spoken() -> str:
    """The command as it can be typed: by its name alone only where that leads to this tabhub."""
    ours = program()
    found = environment.on_path("tabhub")
    is_this = found is not None and found.resolve() == Path(ours[0]).resolve()
    return "tabhub" if is_this else shlex.join(ours)
