"""Home, secret and settings."""

import json
from pathlib import Path

import pytest

from tabhub.config import environment, secret, settings
from tabhub.config import secret as proof
from tabhub.config.paths import Home
from tabhub.errors import Internal, InvalidArguments


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_secret_is_created_once_and_only_its_owner_can_read_it(home: Home) -> None:
    first = secret.prepare(home, 9515)
    second = secret.prepare(home, 4000)
    assert len(first.secret) == 64
    assert (second.secret, second.port) == (first.secret, 4000)
    assert secret.load(home) == second
    assert (_mode(home.root), _mode(home.auth)) == (0o700, 0o600)
    assert [path.name for path in home.extension.iterdir()] == ["auth.json"]


def test_only_browsers_started_by_tabhub_are_marked_as_managed(
    home: Home,
) -> None:
    for port in (9515, 4000):
        auth = secret.prepare(home, port)
        expected = {"secret": auth.secret, "port": port}
        assert json.loads(home.auth.read_text()) == expected
        assert json.loads(home.managed_auth.read_text()) == {**expected, "managed": True}
    assert _mode(home.managed_auth) == 0o600


@pytest.mark.parametrize(
    "text", ["", "{", '{"secret": 1, "port": 2}', '{"secret": "ab", "port": 2}']
)
def test_a_broken_secret_file_is_named_and_never_overwritten(home: Home, text: str) -> None:
    home.auth.write_text(text)
    with pytest.raises(Internal, match=r"auth\.json"):
        secret.prepare(home, 9515)
    assert home.auth.read_text() == text


@pytest.mark.document("OT-server-1")
def test_settings_have_defaults_and_the_file_overrides_them(home: Home) -> None:
    assert settings.load(home).port == 9515
    home.config.write_text('{"port": 4001, "limits": {"callSeconds": 5}, "later": true}')
    loaded = settings.load(home)
    assert (loaded.port, loaded.limits.call_seconds, loaded.limits.max_call_seconds) == (
        4001,
        5,
        300,
    )


def test_a_wrong_setting_is_refused_with_file_and_place(home: Home) -> None:
    home.config.write_text('{"limits": {"callSeconds": "long"}}')
    with pytest.raises(InvalidArguments, match=r"config\.json.*limits\.callSeconds"):
        settings.load(home)


@pytest.mark.parametrize(
    "text",
    ['{"limits": {"callSeconds": 0}}', '{"port": 70000}', '{"sessions": {"idleMinutes": -1}}'],
)
def test_an_invalid_number_is_refused(home: Home, text: str) -> None:
    home.config.write_text(text)
    with pytest.raises(InvalidArguments, match=r"config\.json"):
        settings.load(home)


def test_a_file_that_is_not_json_is_reported_as_such(home: Home) -> None:
    home.config.write_text('{"port": ')
    with pytest.raises(InvalidArguments, match="not valid JSON"):
        settings.load(home)


@pytest.mark.document("CB-security-1")
def test_the_server_is_never_bound_to_anything_but_loopback(home: Home) -> None:
    home.config.write_text('{"host": "0.0.0.0"}')
    with pytest.raises(InvalidArguments, match=r"127\.0\.0\.1"):
        settings.load(home)


def test_a_home_that_others_can_write_to_is_refused_and_not_changed(tmp_path: Path) -> None:
    shared = tmp_path / "shared-by-all"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(InvalidArguments, match="written to by others"):
        Home(shared).create()
    assert _mode(shared) == 0o777


def test_a_proof_is_valid_for_one_secret_one_challenge_and_one_port() -> None:
    proved = proof.prove("s", "word", 1)
    assert proof.is_proof(proved, "s", "word", 1)
    for wrong in (("t", "word", 1), ("s", "other", 1), ("s", "word", 2)):
        assert not proof.is_proof(proved, *wrong)
    assert not proof.is_proof(None, "s", "word", 1)


@pytest.mark.document("OT-endpoints-1")
def test_the_port_comes_from_the_flag_then_the_environment_then_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = settings.Settings(port=1)
    monkeypatch.delenv("TABHUB_PORT", raising=False)
    monkeypatch.delenv("PORT", raising=False)
    assert environment.chosen_port(None, chosen) == 1
    monkeypatch.setenv("PORT", "2")
    assert environment.chosen_port(None, chosen) == 2
    monkeypatch.setenv("TABHUB_PORT", "3")
    assert environment.chosen_port(None, chosen) == 3
    assert environment.chosen_port(0, chosen) == 0
    monkeypatch.setenv("TABHUB_PORT", "many")
    with pytest.raises(InvalidArguments):
        environment.chosen_port(None, chosen)


def test_settings_that_are_not_text_are_refused_as_such(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    home.config.write_bytes(b'{"host": "\xff"}')
    with pytest.raises(InvalidArguments, match="not valid JSON"):
        settings.load(home)


def test_a_relative_home_is_the_same_from_everywhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TABHUB_HOME", "mine")
    monkeypatch.chdir(tmp_path)
    assert Home.from_environment().root == tmp_path / "mine"
