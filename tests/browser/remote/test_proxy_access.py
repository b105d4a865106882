"""The address of the proxy, and the file with its token."""

from pathlib import Path

import pytest

from tabhub.browser.remote.proxy_access import access_of, read_token, socket_url
from tabhub.errors import InvalidArguments

pytestmark = pytest.mark.requirement("PX-08")


@pytest.mark.parametrize(
    ("given", "socket"),
    [
        ("https://proxy.example", "wss://proxy.example/mcp"),
        ("wss://proxy.example:8443/", "wss://proxy.example:8443/mcp"),
        ("https://example.com/team/mcp", "wss://example.com/team/mcp"),
        ("http://127.0.0.1:9516", "ws://127.0.0.1:9516/mcp"),
        ("ws://localhost:9516/mcp", "ws://localhost:9516/mcp"),
        ("http://[::1]:9516", "ws://[::1]:9516/mcp"),
    ],
)
def test_an_address_becomes_that_of_the_clients_socket(given: str, socket: str) -> None:
    assert socket_url(given) == socket


@pytest.mark.parametrize(
    "given",
    [
        "",
        "proxy.example",
        "ftp://proxy.example",
        "https://",
        "https://me:secret@proxy.example",
        "https://proxy.example/?token=x",
        "http://[broken",
    ],
)
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(InvalidArguments, match="no address"):
        socket_url(given)


@pytest.mark.parametrize("given", ["http://proxy.example", "ws://10.0.0.1:9516"])
def test_a_token_is_not_sent_unencrypted_to_another_machine(given: str) -> None:
    with pytest.raises(InvalidArguments, match="not encrypted"):
        socket_url(given)


def written(folder: Path, content: bytes, mode: int = 0o600) -> Path:
    path = folder / "token"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_the_token_is_read_again_each_time(tmp_path: Path) -> None:
    access = access_of("https://a.example, https://b.example", written(tmp_path, b"one\n"))
    assert access.urls == ["wss://a.example/mcp", "wss://b.example/mcp"]
    assert access.token() == "one"
    written(tmp_path, b"two")
    assert access.token() == "two"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(InvalidArguments, match="chmod 600"):
        read_token(written(tmp_path, b"token", mode))


@pytest.mark.parametrize("content", [b"", b" \n", b"a b", b"x" * 40_000, b"\x00\xff"])
def test_a_file_without_a_token_is_refused_and_not_quoted(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InvalidArguments) as refused:
        read_token(written(tmp_path, content))
    assert refused.value.message == f"{tmp_path / 'token'} has no token in it."


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArguments, match="cannot be read"):
        read_token(tmp_path / "none")
