"""Pairing an extension that has no secret, such as one from a store, by a code on both sides.

The extension and the server agree on a key (ECDH). From both public keys each computes a short
code; the extension shows it, and the person gives it to `tabhub extension pair`. A program between
the two would have keys of its own, and so two different codes. It cannot choose its keys so that
the codes match, because the extension commits itself to its key before it sees the server's, and
reveals it only afterwards. The main secret is then sent, encrypted with the agreed key.
"""

import asyncio
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tabhub.errors import Forbidden, InvalidArguments, NotFound, Unavailable
from tabhub.rate_limit import Clock, RateLimit

MOST_WAITING = 3
"""Extensions that may wait at once; the oldest gives way."""
BEGINS_PER_MINUTE = 20
LIFE_SECONDS = 180.0
POLL_SECONDS = 20.0
CODE_LENGTH = 6
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""32 of them, without letters and digits that look alike."""
EXTENSION = "chrome-extension://"
_HEX = re.compile(r"[0-9a-f]{32,200}")
Json = dict[str, Any]


@dataclass
class _Attempt:
    """One extension that wants to be paired."""

    origin: str
    port: int
    commitment: str
    private: Any
    began: float
    shared: bytes = b""
    """What only both ends know, once the extension has revealed its key."""
    code: str = ""
    confirmed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def public(self) -> str:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        encoded: bytes = self.private.public_key().public_bytes(
            Encoding.X962, PublicFormat.UncompressedPoint
        )
        return encoded.hex()

    def agree(self, key: str) -> bytes:
        from cryptography.hazmat.primitives.asymmetric import ec

        try:
            curve = ec.SECP256R1()
            other = ec.EllipticCurvePublicKey.from_encoded_point(curve, bytes.fromhex(key))
        except ValueError:
            raise InvalidArguments("The extension's key is not a point of P-256.") from None
        shared: bytes = self.private.exchange(ec.ECDH(), other)
        return shared


class CodePairing:
    """The extensions that wait, by id."""

    def __init__(self, secret: Callable[[], str], clock: Clock) -> None:
        self._secret = secret
        self._clock = clock
        self._begins = RateLimit(BEGINS_PER_MINUTE, 60.0, clock)
        self._all: dict[str, _Attempt] = {}

    def require_extension(self, origin: str) -> None:
        if not origin.startswith(EXTENSION):
            raise Forbidden("Only a browser's extension is paired here.")

    def begin(self, origin: str, port: int, commitment: str) -> Json:
        """Take an extension's commitment; returns the id of the attempt and our public key."""
        from cryptography.hazmat.primitives.asymmetric import ec

        self.require_extension(origin)
        _require_hex(commitment)
        if self._begins.admit():
            raise Unavailable("Too many extensions want to be paired. Wait.", "rate_limited")
        while len(self._all) >= MOST_WAITING:
            del self._all[next(iter(self._all))]
        id = secrets.token_hex(16)
        private = ec.generate_private_key(ec.SECP256R1())
        self._all[id] = attempt = _Attempt(origin, port, commitment, private, self._clock())
        return {"id": id, "key": attempt.public}

    def reveal(self, origin: str, id: str, key: str, nonce: str) -> Json:
        """Take the key that the extension has committed itself to; now there is a code."""
        attempt = self._attempt(origin, id)
        if attempt.code:
            raise InvalidArguments("The key was sent before.")
        _require_hex(key)
        _require_hex(nonce)
        if not hmac.compare_digest(_sha256(f"{key}:{nonce}").hex(), attempt.commitment):
            del self._all[id]
            raise InvalidArguments("The key is not the one that was announced.")
        attempt.shared = attempt.agree(key)
        attempt.code = code_of(attempt.port, key, attempt.public, nonce)
        return {"seconds": int(LIFE_SECONDS)}

    async def outcome(self, origin: str, id: str) -> Json:
        """Wait a while for the person; the secret, sealed, once they have confirmed the code."""
        attempt = self._attempt(origin, id)
        try:
            async with asyncio.timeout(POLL_SECONDS):
                await attempt.confirmed.wait()
        except TimeoutError:
            return {"sealed": None}
        self._all.pop(id, None)
        return {"sealed": _sealed(attempt, self._secret())}

    def end(self, origin: str, id: str) -> Json:
        """Forget an attempt that the person has given up in the browser."""
        self._attempt(origin, id)
        del self._all[id]
        return {}

    def confirm(self, code: str) -> str:
        """Give the secret to the extension that shows this code; returns its origin."""
        wanted = code.strip().upper().replace("-", "").replace(" ", "")
        self._forget_old()
        for attempt in self._all.values():
            if attempt.code and hmac.compare_digest(attempt.code.encode(), wanted.encode()):
                attempt.confirmed.set()
                return attempt.origin
        raise NotFound(
            f"No extension waits with the code {code[:20]!r}; nothing was done. If your browser "
            "shows it, do not press Connect there: what it talks to is not this tabhub."
        )

    def waiting(self) -> list[Json]:
        """The codes that wait for the person."""
        self._forget_old()
        shown = (a for a in self._all.values() if a.code and not a.confirmed.is_set())
        return [{"code": attempt.code, "origin": attempt.origin} for attempt in shown]

    def _attempt(self, origin: str, id: str) -> _Attempt:
        self._forget_old()
        found = self._all.get(id)
        if found is None or found.origin != origin:
            raise NotFound("This attempt to pair has ended. Begin again.")
        return found

    def _forget_old(self) -> None:
        limit = self._clock() - LIFE_SECONDS
        self._all = {id: one for id, one in self._all.items() if one.began > limit}


def code_of(port: int, key: str, server_key: str, nonce: str) -> str:
    """What both sides show."""
    digest = _sha256(f"tabhub-pairing:{port}:{key}:{server_key}:{nonce}")
    return "".join(LETTERS[byte % len(LETTERS)] for byte in digest[:CODE_LENGTH])


def _sealed(attempt: _Attempt, secret: str) -> Json:
    """Port and secret, readable only by the extension with the agreed key."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    info = f"tabhub-pairing-key:{attempt.port}"
    key = hmac.digest(attempt.shared, info.encode(), hashlib.sha256)
    iv = os.urandom(12)
    text = json.dumps({"port": attempt.port, "secret": secret}).encode()
    return {"iv": iv.hex(), "data": AESGCM(key).encrypt(iv, text, None).hex()}


def _require_hex(text: str) -> None:
    if not _HEX.fullmatch(text):
        raise InvalidArguments("Keys, nonces and commitments are hexadecimal.")


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
