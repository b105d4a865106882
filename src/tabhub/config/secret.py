"""The main secret, which the server and the extension share through `auth.json`.

Both ends prove to each other that they know it, without sending it: each signs a challenge. The
port is part of what is signed, so that a program on another port cannot pass a proof on.
"""

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tabhub.config.files import write_private
from tabhub.config.paths import Home
from tabhub.errors import Internal

LONGEST_CHALLENGE = 128
KEPT_CHALLENGES = 1000
KEPT_SECONDS = 30.0
ONCE = "once"
"""What an answer to a challenge begins with."""

_SECRET = re.compile(r"[0-9a-f]{64}")


class Auth(msgspec.Struct):
    """What the extension needs to find the server and authenticate."""

    secret: str
    port: int


class ManagedAuth(Auth):
    """The same, for browsers that tabhub starts for agents."""

    managed: bool = True


def load(home: Home) -> Auth | None:
    """The stored secret and port; None before the first start."""
    return _load(home.auth)


def load_managed(home: Home) -> Auth | None:
    """The same, as the browsers read it that tabhub starts."""
    return _load(home.managed_auth)


def _load(path: Path) -> Auth | None:
    try:
        auth = msgspec.json.decode(path.read_bytes(), type=Auth)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise Internal(
            f"{path} cannot be read ({error}). Delete it to make a new secret."
        ) from None
    if not _SECRET.fullmatch(auth.secret):
        raise Internal(
            f"The secret in {path} is not 64 hex characters. Delete it to make a new one."
        )
    return auth


def prepare(home: Home, port: int) -> Auth:
    """Store the port for the extension with the secret; make a secret if there is none."""
    stored = load(home)
    return store(home, Auth(stored.secret if stored else secrets.token_hex(32), port))


def renew(home: Home, port: int) -> Auth:
    """Make a new secret."""
    return store(home, Auth(secrets.token_hex(32), port))


def store(home: Home, auth: Auth) -> Auth:
    """Write it where the copies of the extension read it."""
    _write(home.auth, auth)
    _write(home.managed_auth, ManagedAuth(auth.secret, auth.port))
    return auth


def _write(path: Path, auth: Auth) -> None:
    data = msgspec.json.encode(auth)
    if not path.is_file() or path.read_bytes() != data:
        write_private(path, data)


def prove(secret: str, challenge: str, port: int) -> str:
    """The server's proof to someone who knows the secret."""
    return _digest(secret, f"tabhub:{port}:{challenge}")


def pass_for(secret: str, challenge: str, port: int) -> str:
    """The extension's answer; no challenge makes `prove` return it, so we never give it away."""
    return _digest(secret, f"tabhub-link:{port}:{challenge}")


def prove_to_client(hash: str, challenge: str, port: int) -> str:
    """The server's proof to a client, which knows its token and so the token's hash."""
    return _digest(hash, f"tabhub-client:{port}:{challenge}")


def is_proof_to_client(given: object, hash: str, challenge: str, port: int) -> bool:
    return _is_same(given, prove_to_client(hash, challenge, port))


def is_proof(given: object, secret: str, challenge: str, port: int) -> bool:
    return _is_same(given, prove(secret, challenge, port))


def _digest(secret: str, text: str) -> str:
    return hmac.digest(secret.encode(), text.encode(), hashlib.sha256).hex()


def _is_same(given: object, expected: str) -> bool:
    return isinstance(given, str) and hmac.compare_digest(given.encode(), expected.encode())


class Challenges:
    """The challenges that the server has proved lately; each may be answered once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._proved: dict[str, float] = {}

    def prove(self, secret: str, challenge: str, port: int) -> str:
        while len(self._proved) >= KEPT_CHALLENGES:
            del self._proved[next(iter(self._proved))]
        self._proved[challenge] = self._clock()
        return prove(secret, challenge, port)

    def answers(self, given: str, secret: str, port: int) -> bool:
        """Whether this is `once.<challenge>.<answer>` for a challenge that is still open."""
        kind, _, rest = given.partition(".")
        challenge, _, answer = rest.rpartition(".")
        if kind != ONCE or not _is_same(answer, pass_for(secret, challenge, port)):
            return False
        proved = self._proved.pop(challenge, None)
        return proved is not None and self._clock() - proved <= KEPT_SECONDS
