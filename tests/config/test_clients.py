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
def known(home: Home) -> Clients:
    return Clients(home)


def settle(home: Home) -> None:
    """As if the file had been written a while ago: from now on its stamp is trusted."""
    stamp = home.clients.stat().st_mtime_ns - 10_000_000_000
    os.utime(home.clients, ns=(stamp, stamp))


def test_a_token_is_found_with_what_it_allows(known: Clients) -> None:
    plain = known.add("plain")
    narrow = known.add("narrow", ["pages", "core", "core"], read_only=True)
    assert known.find(plain) == Client("plain")
    assert known.find(narrow) == Client("narrow", frozenset({"core", "pages"}), True)
    assert [(c.name, c.toolsets, c.read_only) for c in known.list()] == [
        ("plain", None, False),
        ("narrow", ("core", "pages"), True),
    ]


def test_no_agent_is_taken_for_the_person(known: Clients) -> None:
    found = known.find(known.add("a"))
    assert found is not None
    assert not found.is_person
    assert clients.MAIN.is_person


def test_a_token_has_a_shape_and_only_its_hash_is_kept(home: Home, known: Clients) -> None:
    tokens = [known.add("one"), known.printed(SECRET)]
    for token in tokens:
        assert re.fullmatch(r"thc_[A-Za-z0-9_-]{43}", token)
        assert token not in home.clients.read_text()
        assert token[4:] not in home.clients.read_text()
    assert home.clients.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("token", ["", "thc_", "thc_" + "A" * 43, "schlüssel", "\udc80"])
def test_what_is_no_token_finds_nobody(known: Clients, token: str) -> None:
    known.add("one")
    assert known.find(token) is None


def test_the_stored_hash_opens_nothing(known: Clients) -> None:
    known.add("one")
    assert known.find(known.list()[0].hash) is None


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "x" * 41, "a\n", "main", "agent"])
def test_a_name_that_does_not_fit_is_refused(known: Clients, name: str) -> None:
    with pytest.raises(InvalidArguments):
        known.add(name)
    assert known.list() == []


def test_a_name_is_taken_once(known: Clients) -> None:
    first = known.add("one")
    with pytest.raises(InvalidArguments, match="already"):
        known.add("one")
    assert known.find(first) == Client("one")


def test_a_revoked_token_opens_nothing_and_the_others_stay(known: Clients) -> None:
    gone, stays = known.add("gone"), known.add("stays")
    known.revoke("gone")
    assert (known.find(gone), known.find(stays)) == (None, Client("stays"))
    with pytest.raises(NotFound, match="no client gone"):
        known.revoke("gone")


def test_a_running_server_honours_what_another_process_changes(home: Home, known: Clients) -> None:
    token = Clients(home).add("one")
    assert known.find(token) == Client("one")
    settle(home)
    assert known.find(token) == Client("one")
    Clients(home).revoke("one")
    assert known.find(token) is None


def test_a_change_within_one_tick_of_the_clock_is_noticed(home: Home, known: Clients) -> None:
    token = known.add("one")
    assert known.find(token) == Client("one")
    before = home.clients.stat()
    text = home.clients.read_text()
    hashed = known.list()[0].hash
    home.clients.write_text(text.replace(hashed, "0" * 64))
    os.utime(home.clients, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert known.find(token) is None


def test_a_file_that_has_not_changed_is_not_read_again(
    home: Home, known: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = known.add("one")
    settle(home)
    assert known.find(token)
    monkeypatch.setattr(clients, "_read", lambda home: pytest.fail("read again"))
    assert known.find(token) == Client("one")


def test_a_deleted_file_lets_nobody_in(home: Home, known: Clients) -> None:
    token = known.add("one")
    settle(home)
    assert known.find(token)
    home.clients.unlink()
    assert known.find(token) is None


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"clients": [{"name": 1}]}', "\x00"])
def test_a_broken_file_is_named_and_never_overwritten(
    home: Home, known: Clients, broken: str
) -> None:
    home.clients.write_text(broken)
    for change in (known.list, lambda: known.add("a"), lambda: known.printed(SECRET)):
        with pytest.raises(InvalidArguments, match=r"clients\.json cannot be read \(.+\)"):
            change()
    assert home.clients.read_text() == broken


def test_a_server_whose_file_breaks_keeps_the_last_good_state_and_says_so_once(
    home: Home, known: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    token = known.add("one")
    assert known.find(token)
    good = home.clients.read_bytes()
    for _ in range(2):
        caplog.clear()
        home.clients.write_text("{")
        with caplog.at_level(logging.ERROR):
            answers = [known.find(token), known.find(token), known.find("thc_" + "A" * 43)]
        assert answers == [Client("one"), Client("one"), None]
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert "clients.json" in caplog.text
        home.clients.write_bytes(good)
        assert known.find(token)


def test_a_file_that_is_broken_from_the_beginning_lets_nobody_in(
    home: Home, known: Clients
) -> None:
    token = known.add("one")
    home.clients.write_text(home.clients.read_text()[:-3])
    assert Clients(home).find(token) is None


def test_the_printed_token_is_the_same_at_every_start(home: Home) -> None:
    first, second = Clients(home).printed(SECRET), Clients(home).printed(SECRET)
    assert first == second
    assert Clients(home).find(first) == Client("agent")


def test_a_revoked_printed_token_is_followed_by_another(known: Clients) -> None:
    first = known.printed(SECRET)
    known.revoke("agent")
    second = known.printed(SECRET)
    assert first != second
    assert (known.find(first), known.find(second)) == (None, Client("agent"))


def test_a_new_secret_gives_a_new_printed_token(known: Clients) -> None:
    first, second = known.printed(SECRET), known.printed(OTHER_SECRET)
    assert (known.find(first), known.find(second)) == (None, Client("agent"))
    assert [client.name for client in known.list()] == ["agent"]


def test_processes_that_add_at_once_lose_nothing(home: Home) -> None:
    code = (
        "import sys; from pathlib import Path; from tabhub.config.paths import Home;"
        "from tabhub.config.clients import Clients;"
        "[Clients(Home(Path(sys.argv[1]))).add(f'{sys.argv[2]}{i}') for i in range(40)]"
    )
    command = [sys.executable, "-c", code, str(home.root)]
    running = [subprocess.Popen([*command, name]) for name in "ab"]
    assert [process.wait(PATIENCE) for process in running] == [0, 0]
    stored = json.loads(home.clients.read_text())["clients"]
    assert {one["name"] for one in stored} == {f"{name}{i}" for name in "ab" for i in range(40)}
