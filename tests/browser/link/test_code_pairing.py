"""Pairing by a code: only the extension that the person has compared gets the secret."""

import asyncio
import hashlib
import hmac
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tabhub.browser.link import code_pairing
from tabhub.browser.link.code_pairing import CodePairing, code_of
from tabhub.errors import Forbidden, InvalidArguments, NotFound, Unavailable

ORIGIN = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"
PORT = 9515
SECRET = "ab" * 32
NONCE = "cd" * 16
Json = dict[str, Any]


class Extension:
    """The other end, as `extension/panel/forms/code-pairing.js` does it."""

    def __init__(self, origin: str = ORIGIN) -> None:
        self.origin = origin
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.key = (
            self.private.public_key()
            .public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
            .hex()
        )
        self.commitment = hashlib.sha256(f"{self.key}:{NONCE}".encode()).hexdigest()
        self.begun: Json = {}

    def ask(self, server: CodePairing) -> str:
        self.begun = server.begin(self.origin, PORT, self.commitment)
        server.reveal(self.origin, self.begun["id"], self.key, NONCE)
        return code_of(PORT, self.key, self.begun["key"], NONCE)

    def open(self, sealed: Json) -> Json:
        encoded = bytes.fromhex(self.begun["key"])
        other = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), encoded)
        shared = self.private.exchange(ec.ECDH(), other)
        key = hmac.digest(shared, f"tabhub-pairing-key:{PORT}".encode(), "sha256")
        iv, data = bytes.fromhex(sealed["iv"]), bytes.fromhex(sealed["data"])
        opened: Json = json.loads(AESGCM(key).decrypt(iv, data, None))
        return opened


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def server(time: Time) -> CodePairing:
    return CodePairing(lambda: SECRET, time)


async def test_both_sides_have_the_same_code_and_the_person_decides(server: CodePairing) -> None:
    extension = Extension()
    code = extension.ask(server)
    assert server.waiting() == [{"code": code, "origin": ORIGIN}]
    waiting = asyncio.create_task(server.outcome(ORIGIN, extension.begun["id"]))
    assert server.confirm(f"{code[:3].lower()}-{code[3:]}") == ORIGIN
    sealed = (await waiting)["sealed"]
    assert SECRET not in str(sealed)
    assert extension.open(sealed) == {"port": PORT, "secret": SECRET}
    assert server.waiting() == []


async def test_nothing_is_sent_before_the_person_has_confirmed(
    server: CodePairing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_pairing, "POLL_SECONDS", 0.0)
    extension = Extension()
    extension.ask(server)
    assert await server.outcome(ORIGIN, extension.begun["id"]) == {"sealed": None}


def test_a_program_in_between_has_another_code(server: CodePairing) -> None:
    """It passes an extension's request on with a key of its own, for it cannot read otherwise."""
    extension, between = Extension(), Extension()
    forwarded = between.ask(server)
    own_key = Extension().key
    assert code_of(PORT, extension.key, own_key, NONCE) != forwarded


def test_a_key_that_was_not_announced_ends_the_attempt(server: CodePairing) -> None:
    extension = Extension()
    begun = server.begin(ORIGIN, PORT, extension.commitment)
    with pytest.raises(InvalidArguments):
        server.reveal(ORIGIN, begun["id"], Extension().key, NONCE)
    with pytest.raises(NotFound):
        server.reveal(ORIGIN, begun["id"], extension.key, NONCE)


def test_only_extensions_begin_and_only_their_own_attempts_go_on(server: CodePairing) -> None:
    extension = Extension()
    for origin in ("", "https://shop.example", "null"):
        with pytest.raises(Forbidden):
            server.begin(origin, PORT, extension.commitment)
    begun = server.begin(ORIGIN, PORT, extension.commitment)
    with pytest.raises(NotFound):
        server.reveal("chrome-extension://other", begun["id"], extension.key, NONCE)


def test_an_unknown_code_pairs_nothing(server: CodePairing) -> None:
    Extension().ask(server)
    with pytest.raises(NotFound, match="do not press Connect"):
        server.confirm("AAAAAA")
    with pytest.raises(NotFound):
        server.confirm("")


def test_few_wait_at_once_for_a_short_time_and_begin_seldom(
    server: CodePairing, time: Time
) -> None:
    codes = [Extension().ask(server) for _ in range(code_pairing.MOST_WAITING + 1)]
    assert [one["code"] for one in server.waiting()] == codes[1:]
    time.now += code_pairing.LIFE_SECONDS + 1
    assert server.waiting() == []
    for _ in range(code_pairing.BEGINS_PER_MINUTE):
        server.begin(ORIGIN, PORT, Extension().commitment)
    with pytest.raises(Unavailable, match="Too many"):
        server.begin(ORIGIN, PORT, Extension().commitment)


@pytest.mark.parametrize("text", ["", "zz" * 32, "ab", "ab" * 200])
def test_what_is_not_hexadecimal_is_refused(server: CodePairing, text: str) -> None:
    with pytest.raises(InvalidArguments):
        server.begin(ORIGIN, PORT, text)


async def test_a_key_that_is_no_point_is_refused(server: CodePairing) -> None:
    key = "04" + "11" * 64
    commitment = hashlib.sha256(f"{key}:{NONCE}".encode()).hexdigest()
    begun = server.begin(ORIGIN, PORT, commitment)
    with pytest.raises(InvalidArguments, match="point"):
        server.reveal(ORIGIN, begun["id"], key, NONCE)


def test_an_attempt_that_was_given_up_is_not_listed() -> None:
    server, extension = CodePairing(lambda: SECRET, Time()), Extension()
    code = extension.ask(server)
    with pytest.raises(NotFound):
        server.end("chrome-extension://another", extension.begun["id"])
    assert [one["code"] for one in server.waiting()] == [code]
    server.end(ORIGIN, extension.begun["id"])
    assert server.waiting() == []
    with pytest.raises(NotFound):
        server.confirm(code)
