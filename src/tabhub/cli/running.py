"""Finding the running server. The secret is given to nobody who has not shown to know it."""

import os
import secrets
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple

import msgspec

from tabhub.config import settings
from tabhub.config.files import write_private
from tabhub.config.home import Home
from tabhub.config.proof import is_proof
from tabhub.config.secret import load
from tabhub.errors import Unavailable

ANSWER_SECONDS = 3.0
Facts = dict[str, Any]


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


def find(home: Home) -> Facts | None:
    """What the server of this home says of itself, with its port; None when there is none."""
    auth = load(home)
    if auth is None:
        return None
    for port in dict.fromkeys(ports(home)):
        if _knows_secret(port, auth.secret):
            told = _get(port, "/health", {"Authorization": f"Bearer {auth.secret}"})
            return None if told is None else {**told, "port": port}
    return None


def reload(home: Home) -> None:
    """Have the running server read its files again, if there is one."""
    known, auth = find(home), load(home)
    if known is None or auth is None:
        return
    answer = _ask("POST", known["port"], "/reload", {"Authorization": f"Bearer {auth.secret}"})
    if answer is None or answer.status != 200:
        said = "it did not answer" if answer is None else answer.error()
        raise Unavailable(f"It is written, but the running server did not take it: {said}")


def ports(home: Home) -> Iterator[int]:
    """Where it may be: where the environment says, where the pid file says, where it is set to."""
    named = settings.port_from_environment()
    known = read(home)
    if named is not None:
        yield named
    elif known is not None:
        yield known.port
    else:
        yield settings.load(home).port


def _knows_secret(port: int, secret: str) -> bool:
    challenge = secrets.token_hex(16)
    told = _get(port, f"/health?challenge={challenge}", {})
    return told is not None and is_proof(told.get("proof"), secret, challenge, port)


def _get(port: int, path: str, headers: dict[str, str]) -> Facts | None:
    answer = _ask("GET", port, path, headers)
    return answer.facts if answer is not None and answer.status == 200 else None


class _Answer(NamedTuple):
    status: int
    facts: Facts

    def error(self) -> str:
        """The server's own sentence, if it is one of ours."""
        error = self.facts.get("error")
        return str(error["message"] if isinstance(error, dict) else f"status {self.status}")


def _ask(method: str, port: int, path: str, headers: dict[str, str]) -> _Answer | None:
    connection = HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return _Answer(answer.status, msgspec.json.decode(answer.read(), type=Facts))
    except (OSError, HTTPException, msgspec.DecodeError):
        return None
    finally:
        connection.close()
