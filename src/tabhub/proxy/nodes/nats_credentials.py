"""The credentials with which a node signs in to NATS: a file with a token and the key of its user.

nats-py would sign with the package nkeys, which exists only as source; the key is plain Ed25519.
"""

import base64
import binascii
import re
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nats.errors import InvalidUserCredentialsError

_TOKEN = re.compile(rb"-BEGIN NATS USER JWT-+\s+(\S+)\s")
_SEED = re.compile(rb"-BEGIN USER NKEY SEED-+\s+(\S+)\s")
_SEED_OF_USER = bytes([18 << 3 | 20 << 3 >> 5, (20 << 3 & 0b11111) << 3])
"""How a seed begins: five bits that say it is one, and eight for the kind of key."""


def token_in(file: Path) -> bytearray:
    """The token, which says who the user is."""
    return bytearray(_found(_TOKEN, file))


def signature(file: Path, nonce: str) -> bytes:
    """Sign what the server has sent with the user's key."""
    return base64.b64encode(_key(_found(_SEED, file)).sign(nonce.encode()))


def _found(part: re.Pattern[bytes], file: Path) -> bytes:
    found = part.search(file.read_bytes())
    if found is None:
        raise InvalidUserCredentialsError
    return found[1]


def _key(text: bytes) -> Ed25519PrivateKey:
    try:
        data = base64.b32decode(text + b"=" * (-len(text) % 8))
    except binascii.Error:
        raise InvalidUserCredentialsError from None
    seed, sum = data[:-2], int.from_bytes(data[-2:], "little")
    if len(seed) != 34 or seed[:2] != _SEED_OF_USER or binascii.crc_hqx(seed, 0) != sum:
        raise InvalidUserCredentialsError
    return Ed25519PrivateKey.from_private_bytes(seed[2:])
