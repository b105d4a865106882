"""The audit log: the newest entries in memory, all of them on disk, one line of JSON each.

It also counts calls for `/health` and `/metrics`.
"""

import contextlib
import logging
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import msgspec

from tabhub.audit.counts import Counts
from tabhub.audit.entry import Entry, entry_of, iso
from tabhub.audit.limits import Fold, Folding
from tabhub.audit.redaction import Redactor
from tabhub.calls.ports import AuditEvent
from tabhub.config.settings import AuditSettings

KEPT_IN_MEMORY = 500
OLDER_FILES = 5
CHECK_SECONDS = 1.0

_log = logging.getLogger(__name__)


class AuditLog:
    """Records events. Entries that cannot be written stay in memory, and no call fails for it."""

    def __init__(
        self, path: Path | None, settings: AuditSettings, known_secrets: Iterable[str] = ()
    ) -> None:
        self._path = path
        self._max_bytes = settings.max_bytes
        self._redactor = Redactor(known_secrets, guess=settings.redact)
        self._folding = Folding()
        self.counts = Counts()
        self.failures = 0
        """How many entries are missing from the file."""
        self._newest: deque[tuple[Entry, bytes]] = deque(maxlen=KEPT_IN_MEMORY)
        """With their JSON, so that reading them does not delay calls."""
        self._file: int | None = None
        self._size = 0
        self._checked = 0.0
        self._complained = False

    def hide(self, secret: str) -> None:
        """Redact this secret from now on."""
        self._redactor = self._redactor.knowing([secret])

    def record(self, event: AuditEvent) -> None:
        """Write an event; it is in the file when this returns, unless it is folded."""
        self.settle(event.time)
        self.counts.add(event)
        if self._folding.admits(event):
            self._keep(entry_of(event, self._redactor))

    def settle(self, now: float) -> None:
        """Write the folded entries whose time is over."""
        self._keep_folds(self._folding.over(now))

    def entries(
        self,
        limit: int | None = None,
        plugin: str | None = None,
        tool: str | None = None,
        success: bool | None = None,
    ) -> list[Entry]:
        """The entries in memory that match, newest first; None matches everything."""
        criteria = {"plugin": plugin, "tool": tool, "success": success}
        return [entry for entry, _ in islice(self._matching(criteria), limit)]

    def lines(self, limit: int, since: float | None, **criteria: Any) -> list[bytes]:
        """The same as JSON, without those older than a time."""
        matching = self._matching(criteria)
        if since is None:
            return [line for _, line in islice(matching, limit)]
        first = iso(since)
        lines = (line for entry, line in matching if entry["timestamp"] >= first)
        return list(islice(lines, limit))

    def close(self) -> None:
        self._keep_folds(self._folding.take())
        self._close_file()

    def _matching(self, criteria: Mapping[str, Any]) -> Iterator[tuple[Entry, bytes]]:
        self._keep_folds(self._folding.take())
        given = [(key, value) for key, value in criteria.items() if value is not None]
        # A copy, since calls may add entries while a reader iterates.
        newest = list(reversed(self._newest))
        if not given:
            return iter(newest)
        return (kept for kept in newest if all(kept[0][key] == value for key, value in given))

    def _keep_folds(self, folds: Iterable[Fold]) -> None:
        for event, times in folds:
            self._keep({**entry_of(event, self._redactor), "times": times})

    def _keep(self, entry: Entry) -> None:
        line = msgspec.json.encode(entry)
        self._newest.append((entry, line))
        if self._path is not None:
            self._append(self._path, line + b"\n")

    def _append(self, path: Path, line: bytes) -> None:
        try:
            self._write(path, line)
            self._complained = False
        except OSError as error:
            self.failures += 1
            if not self._complained:
                _log.error("%s cannot be written: %s. Calls go on without it.", path, error)
            self._complained = True
            # When the file is opened again, a half-written line is ended first.
            self._close_file()

    def _write(self, path: Path, line: bytes) -> None:
        self._check_file()
        if self._file is None:
            self._file, self._size = _open(path)
        if self._size + len(line) > self._max_bytes:
            self._close_file()
            _rotate(path)
            self._file, self._size = _open(path)
        self._size += len(line)
        while line:
            line = line[os.write(self._file, line) :]

    def _check_file(self) -> None:
        """Close a file that was deleted, so that a new one is opened."""
        now = time.monotonic()
        if self._file is not None and now - self._checked > CHECK_SECONDS:
            self._checked = now
            if not os.fstat(self._file).st_nlink:
                self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file, self._size = None, 0


def read(path: Path) -> Iterator[Entry]:
    """The entries of all files, oldest first; damaged lines are skipped."""
    for file in reversed(files_of(path)):
        with contextlib.suppress(FileNotFoundError), file.open("rb") as lines:
            for line in lines:
                with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                    yield msgspec.json.decode(line, type=Entry)


def files_of(path: Path) -> list[Path]:
    """The current file and the full ones, newest first."""
    older = (path.with_name(f"{path.name}.{number}") for number in range(1, OLDER_FILES + 1))
    return [path, *older]


def _rotate(path: Path) -> None:
    for older, newer in pairwise(reversed(files_of(path))):
        with contextlib.suppress(FileNotFoundError):
            newer.replace(older)


def _open(path: Path) -> tuple[int, int]:
    """Open a file to append to it; returns its size too. A half-written last line is ended."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    end = os.lseek(file, 0, os.SEEK_END)
    if end and os.pread(file, 1, end - 1) != b"\n":
        end += os.write(file, b"\n")
    return file, end
