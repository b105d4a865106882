"""Credential files of NATS, compared with what nkeys makes of them."""

import base64
from pathlib import Path
from typing import Any

import nkeys
import pytest
from nats.errors import InvalidUserCredentialsError

from tabhub.proxy.nodes.nats_credentials import signature, token_in

TEXT = (
    "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
    "-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
)


def key_of(kind: int = nkeys.PREFIX_BYTE_USER) -> Any:
    return nkeys.from_seed(nkeys.encode_seed(bytes(range(32)), kind))


SEED = key_of().seed.decode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "node.creds"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_token_and_signature_are_those_of_the_file(file: Path, line_end: str) -> None:
    key = key_of()
    text = TEXT.format(token="a.b.c", seed=key.seed.decode())
    file.write_bytes(text.replace("\n", line_end).encode())
    assert token_in(file) == b"a.b.c"
    assert base64.b64decode(signature(file, "nonce")) == key.sign(b"nonce")


@pytest.mark.parametrize(
    "seed",
    [
        "",
        "no base 32!",
        "SUAAAA",
        key_of(nkeys.PREFIX_BYTE_ACCOUNT).seed.decode(),
        SEED[:-1] + "1",
        SEED[:20] + "AAAA" + SEED[24:],
    ],
    ids=["empty", "no base 32", "too short", "of an account", "a letter too many", "changed"],
)
def test_what_is_no_key_of_a_user_is_refused(file: Path, seed: str) -> None:
    file.write_text(TEXT.format(token="a.b.c", seed=seed))
    with pytest.raises(InvalidUserCredentialsError):
        signature(file, "nonce")


def test_a_file_without_a_token_is_refused(file: Path) -> None:
    file.write_text("nothing")
    with pytest.raises(InvalidUserCredentialsError):
        token_in(file)
