"""Collections of values by key in one SQLite file; values are bytes whose meaning callers know.

A change is in the file, whole or not at all, when the call returns.
"""

import logging
import os
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from tabhub.errors import Internal, InvalidArguments

log = logging.getLogger(__name__)

VERSION = 1
WAIT_SECONDS = 0.5
"""How long to wait for another process that writes; the whole server waits too."""
T = TypeVar("T")
# The table is named as in files of earlier versions.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS shelves (
    shelf TEXT NOT NULL, key TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (shelf, key)
) WITHOUT ROWID
"""


class Store:
    """One file; without a path, only memory."""

    def __init__(self, path: Path | None) -> None:
        self._database = _in_memory() if path is None else _open(path)

    def collection(self, name: str) -> "Collection":
        return Collection(self._database, name)

    def close(self) -> None:
        self._database.close()


class Collection:
    """The values of one kind."""

    def __init__(self, database: sqlite3.Connection, name: str) -> None:
        self._database = database
        self.name = name

    def load(self) -> dict[str, bytes]:
        rows = self._database.execute(
            "SELECT key, body FROM shelves WHERE shelf = ? ORDER BY key", (self.name,)
        )
        return dict(rows.fetchall())

    def keys(self) -> set[str]:
        rows = self._database.execute("SELECT key FROM shelves WHERE shelf = ?", (self.name,))
        return {key for (key,) in rows.fetchall()}

    def change(self, put: Mapping[str, bytes], drop: Iterable[str]) -> None:
        """Make many changes in one transaction: one by one, each would wait for the disk."""
        database = self._database
        database.execute("BEGIN IMMEDIATE")
        try:
            rows = ((self.name, key, body) for key, body in put.items())
            database.executemany("REPLACE INTO shelves VALUES (?, ?, ?)", rows)
            dropped = ((self.name, key) for key in drop)
            database.executemany("DELETE FROM shelves WHERE shelf = ? AND key = ?", dropped)
        except BaseException:
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")

    def put(self, key: str, body: bytes) -> None:
        self._database.execute("REPLACE INTO shelves VALUES (?, ?, ?)", (self.name, key, body))

    def drop(self, key: str) -> None:
        """Delete a value; nothing happens if there is none."""
        self._database.execute("DELETE FROM shelves WHERE shelf = ? AND key = ?", (self.name, key))


def decoded(collection: Collection, kind: type[T]) -> list[tuple[str, T]]:
    """The values of a collection; one that cannot be read is logged and deleted."""
    found = []
    for key, body in collection.load().items():
        try:
            found.append((key, msgspec.json.decode(body, type=kind)))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            log.error("%r of %s is unreadable and was deleted: %s", key, collection.name, error)
            collection.drop(key)
    return found


def _in_memory() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.execute(_SCHEMA)
    return database


def _open(path: Path) -> sqlite3.Connection:
    _make_private(path)
    database = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
    try:
        _prepare(database, path)
    except BaseException as error:
        database.close()
        raise _explained(error, path) from None
    return database


def _make_private(path: Path) -> None:
    """Create the file for its owner only; SQLite gives the files beside it the same mode."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.chmod(path, 0o600)
    finally:
        os.close(handle)


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise InvalidArguments(
            f"{path} was written by a newer tabhub (its version is {version}, this one knows"
            f" {VERSION}): update tabhub, or move the file away to start with an empty one."
        )
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    if version < VERSION:
        database.execute(_SCHEMA)
        database.execute(f"PRAGMA user_version = {VERSION}")


def _explained(error: BaseException, path: Path) -> BaseException:
    if isinstance(error, sqlite3.OperationalError):
        return Internal(f"{path} cannot be used at the moment: {error}.")
    if isinstance(error, sqlite3.DatabaseError):
        return InvalidArguments(
            f"{path} is not a file of tabhub ({error}): move it away to start with an empty one."
        )
    return error
