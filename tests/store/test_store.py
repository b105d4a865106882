"""The store: collections in one file that survive everything except its deletion."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tabhub.errors import InvalidArguments
from tabhub.store.store import Store

WRITER = """
import itertools, sys
from pathlib import Path
from tabhub.store.store import Store
collection = Store(Path(sys.argv[1])).collection("numbers")
for number in itertools.count():
    collection.put(str(number % 50), str(number).encode() * 500)
    print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tabhub.db"


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[Store]:
    with closing(Store(path if request.param == "file" else None)) as store:
        yield store


def test_a_stored_value_is_loaded_and_a_second_put_replaces_it(store: Store) -> None:
    collection = store.collection("a")
    collection.put("one", b"1")
    collection.put("two", b"\x00\xff")
    collection.put("one", b"new")
    assert collection.load() == {"one": b"new", "two": b"\x00\xff"}


def test_collections_are_separate(store: Store) -> None:
    first, second = store.collection("a"), store.collection("b")
    first.put("key", b"first")
    second.put("key", b"second")
    first.drop("key")
    assert (first.load(), second.load()) == ({}, {"key": b"second"})


def test_a_dropped_key_is_gone_and_may_be_dropped_again(store: Store) -> None:
    collection = store.collection("a")
    collection.put("one", b"1")
    collection.put("two", b"2")
    collection.drop("one")
    collection.drop("one")
    assert collection.load() == {"two": b"2"}


def test_a_file_keeps_its_values_and_memory_does_not(path: Path) -> None:
    for place in (path, None):
        with closing(Store(place)) as store:
            store.collection("a").put("key", b"body")
    with closing(Store(path)) as kept, closing(Store(None)) as lost:
        assert kept.collection("a").load() == {"key": b"body"}
        assert lost.collection("a").load() == {}


def test_a_second_reader_sees_the_values_of_a_running_server(path: Path) -> None:
    with closing(Store(path)) as server, closing(Store(path)) as command:
        server.collection("a").put("key", b"body")
        assert command.collection("a").load() == {"key": b"body"}


def test_only_its_owner_can_read_any_of_its_files(path: Path) -> None:
    path.touch(0o644)
    with closing(Store(path)) as store:
        store.collection("a").put("key", b"body")
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes.keys() == {"tabhub.db", "tabhub.db-wal", "tabhub.db-shm"}
    assert set(modes.values()) == {0o600}


def test_a_file_that_is_not_a_database_is_named_and_not_changed(path: Path) -> None:
    path.write_text("not a database " * 100)
    with pytest.raises(InvalidArguments, match=r"tabhub\.db is not .*: move it away"):
        Store(path)
    assert path.read_text() == "not a database " * 100


def test_a_file_of_a_newer_version_is_refused_and_not_changed(path: Path) -> None:
    Store(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 7")
    before = path.read_bytes()
    with pytest.raises(InvalidArguments, match=r"tabhub\.db .*newer.*7.*update tabhub"):
        Store(path)
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_to_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere") as raised:
        Store(tmp_path / "nowhere" / "tabhub.db")
    assert os.fspath(tmp_path / "nowhere") in str(raised.value)


def test_every_value_stored_before_a_kill_is_complete_afterwards(path: Path) -> None:
    for stop_after in (3, 120):
        last = kill_after(stop_after, path)
        with closing(Store(path)) as store:
            stored = store.collection("numbers").load()
        for number in range(max(0, last - 49), last + 1):
            body = stored[str(number % 50)]
            # The process may have started the next round before the kill.
            assert body in (str(number).encode() * 500, str(number + 50).encode() * 500)


def kill_after(number: int, path: Path) -> int:
    """Kill a process while it writes; return the last number that it reported as stored."""
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if int(line) == number:
                process.kill()
        return int(line)
