"""The main secret, shared by the server and the copies of the extension through `auth.json`."""

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

_SECRET = re.compile(r"[0-9a-f]{64}")


class Auth(msgspec.Struct):
    """What the extension reads to find and enter the server."""

    secret: str
    port: int


class ManagedAuth(Auth):
    """What only the browsers read that tabhub starts for agents."""

    managed: bool = True


def load(home: Home) -> Auth | None:
    """What is stored, or None before the first start."""
    return _load(home.auth)


def load_managed(home: Home) -> Auth | None:
    """What the browsers read that tabhub starts."""
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
    """Keep the secret there is, or make one, and note the port for the extension."""
    stored = load(home)
    return store(home, Auth(stored.secret if stored else secrets.token_hex(32), port))


def renew(home: Home, port: int) -> Auth:
    """Make a new secret, whatever the old one was."""
    return store(home, Auth(secrets.token_hex(32), port))


def store(home: Home, auth: Auth) -> Auth:
    """Write it where the extension's copies read it."""
    _keep(home.auth, auth)
    _keep(home.managed_auth, ManagedAuth(auth.secret, auth.port))
    return auth


def _keep(path: Path, auth: Auth) -> None:
    data = msgspec.json.encode(auth)
    if not path.is_file() or path.read_bytes() != data:
        write_private(path, data)


LONGEST_CHALLENGE = 128
KEPT_CHALLENGES = 1000
KEPT_SECONDS = 30.0
ONCE = "once"


def prove(secret: str, challenge: str, port: int) -> str:
    return _digest(secret, f"tabhub:{port}:{challenge}")


def pass_for(secret: str, challenge: str, port: int) -> str:
    """What the extension answers; never what `prove` gives, for whatever challenge."""
    return _digest(secret, f"tabhub-link:{port}:{challenge}")


def label_of(hash: str) -> str:
    """What names a token to a server that has its hash, and tells nobody else anything."""
    return hashlib.sha256(f"tabhub-label:{hash}".encode()).hexdigest()[:16]


def prove_to_client(hash: str, challenge: str, port: int) -> str:
    return _digest(hash, f"tabhub-client:{port}:{challenge}")


def is_proof_to_client(given: object, hash: str, challenge: str, port: int) -> bool:
    return _is_same(given, prove_to_client(hash, challenge, port))


def is_proof(given: object, secret: str, challenge: str, port: int) -> bool:
    return _is_same(given, prove(secret, challenge, port))


def _digest(secret: str, told: str) -> str:
    return hmac.digest(secret.encode(), told.encode(), hashlib.sha256).hex()


def _is_same(given: object, expected: str) -> bool:
    return isinstance(given, str) and hmac.compare_digest(given.encode(), expected.encode())


class Challenges:
    """Words that were proved lately; each is good for one answer."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._proved: dict[str, float] = {}

    def prove(self, secret: str, challenge: str, port: int) -> str:
        while len(self._proved) >= KEPT_CHALLENGES:
            del self._proved[next(iter(self._proved))]
        self._proved[challenge] = self._clock()
        return prove(secret, challenge, port)

    def answers(self, given: str, secret: str, port: int) -> bool:
        """Whether this is `once.<word>.<answer>` for a word that waits for one."""
        kind, _, rest = given.partition(".")
        word, _, answer = rest.rpartition(".")
        if kind != ONCE or not _is_same(answer, pass_for(secret, word, port)):
            return False
        proved = self._proved.pop(word, None)
        return proved is not None and self._clock() - proved <= KEPT_SECONDS
