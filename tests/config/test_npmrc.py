"""The person's `.npmrc`."""

from base64 import b64encode
from pathlib import Path

import pytest

from tabhub.config import environment, npmrc
from tabhub.config.npmrc import Npmrc
from tabhub.errors import InvalidArguments, NotFound

FILE = """
; a comment
# registry=https://commented.example
registry = "https://npm.example/mirror"
@acme:registry=https://acme.example:8443/
//npm.example/mirror/:_authToken=${TOKEN}
//acme.example:8443/:username=ada
//acme.example:8443/:_password={password}
//basic.example/:_auth=YTpi
list[]=a
no value
""".replace("{password}", b64encode(b"pass:word").decode())


def _read(tmp_path: Path, text: str, **environment: str) -> Npmrc:
    path = tmp_path / ".npmrc"
    path.write_text(text)
    return npmrc.read(path, environment)


def test_registries_and_tokens_are_found_by_scope_and_address(tmp_path: Path) -> None:
    found = _read(tmp_path, FILE, TOKEN="t0ken")
    assert found.registry_of("left-pad") == "https://npm.example/mirror/"
    assert found.registry_of("@acme/x") == "https://acme.example:8443/"
    assert found.registry_of("@other/x") == "https://npm.example/mirror/"
    assert found.authorization("https://npm.example/mirror/x/-/x.tgz") == "Bearer t0ken"
    basic = f"Basic {b64encode(b'ada:pass:word').decode()}"
    assert found.authorization("https://acme.example:8443/x") == basic
    assert found.authorization("https://basic.example/a/b") == "Basic YTpi"


@pytest.mark.parametrize(
    "url",
    [
        "https://npm.example/other/x",
        "https://npm.example:444/mirror/x",
        "https://npm.example.evil/mirror/x",
        "https://evil/npm.example/mirror/x",
        "https://acme.example/x",
    ],
)
def test_no_other_address_gets_a_token(tmp_path: Path, url: str) -> None:
    assert _read(tmp_path, FILE, TOKEN="t0ken").authorization(url) is None


def test_without_a_registry_the_error_says_where_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="none; `npm config get registry` prints the usual one"):
        npmrc.read(tmp_path / "none", {}).registry_of("x")
    found = _read(tmp_path, FILE, NPM_CONFIG_REGISTRY="https://env.example")
    assert found.registry_of("x") == "https://env.example/"


def test_the_file_is_the_persons_own_or_the_one_that_npm_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path.parent)
    (tmp_path / ".npmrc").write_text("registry=https://home.example/")
    assert environment.read_npmrc().registry_of() == "https://home.example/"
    (tmp_path / "other").write_text("registry=https://other.example/")
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(tmp_path / "other"))
    assert environment.read_npmrc().registry_of() == "https://other.example/"


@pytest.mark.parametrize(
    "address",
    [
        "http://npm.example/",
        "ftp://npm.example/",
        "npm.example",
        "https://",
        "https://user:pass@npm.example/",
        "https://npm.example:0/",
        "https://[/",
        "https://npm.exämple/",
    ],
)
def test_a_registry_that_others_could_read_or_replace_is_refused(
    tmp_path: Path, address: str
) -> None:
    with pytest.raises(InvalidArguments) as refused:
        _read(tmp_path, f"registry={address}").registry_of("x")
    assert "pass@" not in refused.value.message


@pytest.mark.parametrize("host", ["127.0.0.1:4873", "localhost", "[::1]:4873"])
def test_on_this_machine_a_registry_needs_no_encryption(tmp_path: Path, host: str) -> None:
    assert _read(tmp_path, f"registry=http://{host}").registry_of("x") == f"http://{host}/"


def test_a_token_that_is_not_set_or_would_forge_a_header_is_refused(tmp_path: Path) -> None:
    text = "//a.example/:_authToken=${TOKEN}"
    for more in ({}, {"TOKEN": "x\r\nHost: evil"}, {"TOKEN": "ä"}):
        with pytest.raises(InvalidArguments) as refused:
            _read(tmp_path, text, **more).authorization("https://a.example/x")
        assert "evil" not in refused.value.message
    assert (
        _read(tmp_path, "//a.example/:_authToken=${TOKEN?}").authorization("https://a.example/x")
        is None
    )


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidArguments, match="cannot be read"):
        npmrc.read(tmp_path, {})
