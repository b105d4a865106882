"""Proof that a server knows the secret, before anybody hands it over.

A command finds a server by a port number. Whoever listens there first shows, for a word of the
command's own choosing, what only our server can compute; the port is part of it, so that nobody
can pass on another server's answer.
"""

import hashlib
import hmac

LONGEST_CHALLENGE = 128


def prove(secret: str, challenge: str, port: int) -> str:
    told = f"tabhub:{port}:{challenge}".encode()
    return hmac.digest(secret.encode(), told, hashlib.sha256).hex()


def is_proof(given: object, secret: str, challenge: str, port: int) -> bool:
    expected = prove(secret, challenge, port)
    return isinstance(given, str) and hmac.compare_digest(given.encode(), expected.encode())
