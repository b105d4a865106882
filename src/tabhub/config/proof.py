"""Proof that a server knows the secret, before anybody hands it over.

A command finds a server by a port number. Whoever listens there first shows, for a word of the
command's own choosing, what only our server can compute; the port is part of it, so that nobody
can pass on another server's answer.

A browser's extension goes on with the word that was just proved to it, and shows in turn, once,
what only it can compute: its secret goes over the line to nobody at all. What it shows is made
with a word of its own before it, so that nobody can have the server prove it.

An agent may have nothing but its token. The server keeps the token's hash, which nobody else
knows either: by that it proves itself to the agent, who says whose it asks for without telling.
"""

import hashlib
import hmac
import time
from collections.abc import Callable

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
