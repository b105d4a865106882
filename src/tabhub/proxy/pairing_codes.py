"""Pairing codes: short ones that a person types once, to get a token for a browser or an agent.

A code is known by its first characters; the rest is the secret. So wrong tries count against the
code that they are for, and five of them end it.
"""

import hmac
import re
import secrets
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from tabhub.errors import AccessError
from tabhub.rate_limit import Clock

ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without characters that look alike."""
LENGTH = 8
KNOWN_BY = 3
SECONDS = 600.0
MOST_TRIES = 5
MOST_CODES = 10_000
_NOISE = re.compile(r"[\s-]")


class PairingCode(Struct):
    """What a code stands for."""

    secret: str
    user: str
    client: str
    expires: float
    tries: int = 0

    def is_opened_by(self, code: str) -> bool:
        """Whether this is the code; every call is a try."""
        self.tries += 1
        return hmac.compare_digest(code[KNOWN_BY:].encode(), self.secret.encode())


class CodeBook(Protocol):
    """The codes that can be exchanged now, of this node or of all."""

    async def issue(self, user: str, client: str) -> str:
        """A new code, as a person reads it."""

    async def exchange(self, given: str) -> PairingCode:
        """What a code stands for, once; raises for one that is wrong, used or too old."""


class PairingCodes:
    """The codes of one node."""

    def __init__(self, clock: Clock, choose: Callable[[str], str] = secrets.choice) -> None:
        self._clock = clock
        self._choose = choose
        self._codes: dict[str, PairingCode] = {}

    async def issue(self, user: str, client: str) -> str:
        self._forget_old()
        if len(self._codes) >= MOST_CODES:
            raise too_many_codes()
        code = new_code(self._choose)
        while code[:KNOWN_BY] in self._codes:
            code = new_code(self._choose)
        expires = self._clock() + SECONDS
        self._codes[code[:KNOWN_BY]] = PairingCode(code[KNOWN_BY:], user, client, expires)
        return shown_code(code)

    async def exchange(self, given: str) -> PairingCode:
        code = read_code(given)
        self._forget_old()
        known = self._codes.get(code[:KNOWN_BY])
        if known is None:
            raise refused_code()
        is_right = known.is_opened_by(code)
        if is_right or known.tries >= MOST_TRIES:
            del self._codes[code[:KNOWN_BY]]
        if not is_right:
            raise refused_code()
        return known

    def knows(self, code: str) -> bool:
        """Whether there is a code of this name."""
        return code[:KNOWN_BY] in self._codes

    def _forget_old(self) -> None:
        now = self._clock()
        for name in [name for name, one in self._codes.items() if one.expires <= now]:
            del self._codes[name]


def new_code(choose: Callable[[str], str] = secrets.choice) -> str:
    return "".join(choose(ALPHABET) for _ in range(LENGTH))


def shown_code(code: str) -> str:
    return f"{code[:4]}-{code[4:]}"


def read_code(given: str) -> str:
    """A code as a person has typed it, in our own spelling; raises for what cannot be one."""
    code = _NOISE.sub("", given).upper()
    if len(code) != LENGTH or not set(code) <= set(ALPHABET):
        raise refused_code()
    return code


def refused_code() -> AccessError:
    return AccessError("This code is wrong, used or too old. Make a new one: tabhub proxy pair")


def too_many_codes() -> AccessError:
    return AccessError("Too many codes wait to be used.")
