"""Named client tokens and their file."""

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tabhub.config import clients
from tabhub.config.clients import Client, Clients
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, NotFound
from tests.support.eventually import PATIENCE

SECRET, OTHER_SECRET = "ab" * 32, "cd" * 32


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


@pytest.fixture
def registry(home: Home) -> Clients:
    return Clients(home)


def settle(home: Home) -> None:
    """Make the file look older, so that its time stamp is trusted from now on."""
    stamp = home.clients.stat().st_mtime_ns - 10_000_000_000
    os.utime(home.clients, ns=(stamp, stamp))


def test_a_token_is_found_with_its_limits(registry: Clients) -> None:
    plain = registry.add("plain")
    narrow = registry.add("narrow", ["pages", "core", "core"], read_only=True)
    assert registry.find(plain) == Client("plain")
    assert registry.find(narrow) == Client("narrow", frozenset({"core", "pages"}), True)
    assert [(c.name, c.toolsets, c.read_only) for c in registry.list()] == [
        ("plain", None, False),
        ("narrow", ("core", "pages"), True),
    ]


def test_no_agent_counts_as_the_person(registry: Clients) -> None:
    client = registry.find(registry.add("a"))
    assert client is not None
    assert not client.is_person
    assert clients.MAIN.is_person


def test_a_token_has_a_fixed_format_and_only_its_hash_is_stored(
    home: Home, registry: Clients
) -> None:
    tokens = [registry.add("one"), registry.printed(SECRET)]
    for token in tokens:
        assert re.fullmatch(r"thc_[A-Za-z0-9_-]{43}", token)
        assert token not in home.clients.read_text()
        assert token[4:] not in home.clients.read_text()
    assert home.clients.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("token", ["", "thc_", "thc_" + "A" * 43, "schlüssel", "\udc80"])
def test_an_invalid_token_finds_no_client(registry: Clients, token: str) -> None:
    registry.add("one")
    assert registry.find(token) is None


def test_the_stored_hash_is_not_a_token(registry: Clients) -> None:
    registry.add("one")
    assert registry.find(registry.list()[0].hash) is None


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "x" * 41, "a\n", "main", "agent"])
def test_an_invalid_name_is_refused(registry: Clients, name: str) -> None:
    with pytest.raises(InvalidArguments):
        registry.add(name)
    assert registry.list() == []


def test_a_name_can_be_used_once(registry: Clients) -> None:
    first = registry.add("one")
    with pytest.raises(InvalidArguments, match="already"):
        registry.add("one")
    assert registry.find(first) == Client("one")


def test_a_revoked_token_is_refused_and_the_others_stay(registry: Clients) -> None:
    revoked, other = registry.add("gone"), registry.add("stays")
    registry.revoke("gone")
    assert (registry.find(revoked), registry.find(other)) == (None, Client("stays"))
    with pytest.raises(NotFound, match="no client gone"):
        registry.revoke("gone")


def test_a_running_server_follows_changes_of_another_process(home: Home, registry: Clients) -> None:
    token = Clients(home).add("one")
    assert registry.find(token) == Client("one")
    settle(home)
    assert registry.find(token) == Client("one")
    Clients(home).revoke("one")
    assert registry.find(token) is None


def test_a_change_within_one_tick_of_the_clock_is_noticed(home: Home, registry: Clients) -> None:
    token = registry.add("one")
    assert registry.find(token) == Client("one")
    before = home.clients.stat()
    text = home.clients.read_text()
    hashed = registry.list()[0].hash
    home.clients.write_text(text.replace(hashed, "0" * 64))
    os.utime(home.clients, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert registry.find(token) is None


def test_a_file_that_has_not_changed_is_not_read_again(
    home: Home, registry: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = registry.add("one")
    settle(home)
    assert registry.find(token)
    monkeypatch.setattr(clients, "_read", lambda home: pytest.fail("read again"))
    assert registry.find(token) == Client("one")


def test_a_deleted_file_means_no_clients(home: Home, registry: Clients) -> None:
    token = registry.add("one")
    settle(home)
    assert registry.find(token)
    home.clients.unlink()
    assert registry.find(token) is None


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"clients": [{"name": 1}]}', "\x00"])
def test_a_broken_file_is_named_and_never_overwritten(
    home: Home, registry: Clients, broken: str
) -> None:
    home.clients.write_text(broken)
    for change in (registry.list, lambda: registry.add("a"), lambda: registry.printed(SECRET)):
        with pytest.raises(InvalidArguments, match=r"clients\.json cannot be read \(.+\)"):
            change()
    assert home.clients.read_text() == broken


def test_a_server_whose_file_breaks_keeps_the_last_good_state_and_says_so_once(
    home: Home, registry: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    token = registry.add("one")
    assert registry.find(token)
    good = home.clients.read_bytes()
    for _ in range(2):
        caplog.clear()
        home.clients.write_text("{")
        with caplog.at_level(logging.ERROR):
            answers = [registry.find(token), registry.find(token), registry.find("thc_" + "A" * 43)]
        assert answers == [Client("one"), Client("one"), None]
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert "clients.json" in caplog.text
        home.clients.write_bytes(good)
        assert registry.find(token)


def test_a_file_that_is_broken_from_the_beginning_means_no_clients(
    home: Home, registry: Clients
) -> None:
    token = registry.add("one")
    home.clients.write_text(home.clients.read_text()[:-3])
    assert Clients(home).find(token) is None


def test_the_printed_token_is_the_same_at_every_start(home: Home) -> None:
    first, second = Clients(home).printed(SECRET), Clients(home).printed(SECRET)
    assert first == second
    assert Clients(home).find(first) == Client("agent")


def test_a_revoked_printed_token_is_replaced(registry: Clients) -> None:
    first = registry.printed(SECRET)
    registry.revoke("agent")
    second = registry.printed(SECRET)
    assert first != second
    assert (registry.find(first), registry.find(second)) == (None, Client("agent"))


def test_a_new_secret_gives_a_new_printed_token(registry: Clients) -> None:
    first, second = registry.printed(SECRET), registry.printed(OTHER_SECRET)
    assert (registry.find(first), registry.find(second)) == (None, Client("agent"))
    assert [client.name for client in registry.list()] == ["agent"]


def test_processes_that_add_at_once_lose_no_client(home: Home) -> None:
    code = (
        "import sys; from pathlib import Path; from tabhub.config.paths import Home;"
        "from tabhub.config.clients import Clients;"
        "[Clients(Home(Path(sys.argv[1]))).add(f'{sys.argv[2]}{i}') for i in range(40)]"
    )
    command = [sys.executable, "-c", code, str(home.root)]
    running = [subprocess.Popen([*command, name]) for name in "ab"]
    assert [process.wait(PATIENCE) for process in running] == [0, 0]
    stored = json.loads(home.clients.read_text())["clients"]
    assert {client["name"] for client in stored} == {
        f"{name}{i}" for name in "ab" for i in range(40)
    }
