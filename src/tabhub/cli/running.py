"""Finding the running server: the pid file, and whether somebody answers at its port."""

import os
from http.client import HTTPConnection, HTTPException
from typing import Any

import msgspec

from tabhub.config.files import write_private
from tabhub.config.home import Home
from tabhub.config.secret import load

ANSWER_SECONDS = 3.0


class PidFile(msgspec.Struct):
    """What a server leaves in its home while it runs."""

    pid: int
    port: int


def write(home: Home, port: int) -> None:
    write_private(home.pid, msgspec.json.encode(PidFile(os.getpid(), port)))


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


def find(home: Home) -> PidFile | None:
    """The server of this home, if it is alive and answers."""
    known = read(home)
    return known if known is not None and health(home, known.port) is not None else None


def health(home: Home, port: int) -> dict[str, Any] | None:
    """What `/health` says with the secret; None when nobody of ours answers there."""
    auth = load(home)
    headers = {} if auth is None else {"Authorization": f"Bearer {auth.secret}"}
    connection = HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/health", headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        return msgspec.json.decode(body, type=dict[str, Any]) if answer.status == 200 else None
    except (OSError, HTTPException, msgspec.DecodeError):
        return None
    finally:
        connection.close()
