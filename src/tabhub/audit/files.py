"""The files of the audit log: how lines are written, kept, and read again.

`audit.log` is the newest; full ones are `audit.log.1` and so on. A call that may change something
has a line when it begins (`began`), and an entry when it ends. Both have the same id (`call`), so
that only the end is shown, or, if there is none, that it began.
"""

import contextlib
import logging
import os
import time
from collections import deque
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

import msgspec

from tabhub.audit.entry import Entry, iso, without_end
from tabhub.config.settings import AuditSettings
from tabhub.system.locks import BINARY, is_busy, read_at

CHECK_SECONDS = 1.0
PRUNE_SECONDS = 3600.0
DAY_SECONDS = 24 * 60 * 60.0
MOST_FILES = 1000
WAITING_BYTES = 16 * 1024 * 1024
"""How much is kept in memory while the file cannot be written."""

_log = logging.getLogger(__name__)


class Waiting(NamedTuple):
    """A line that could not be written yet."""

    line: bytes
    is_needed: bool
    """Whether the call may have had an effect."""


class AuditFile:
    """Appends lines. What cannot be written waits in memory, and is written later, in order."""

    def __init__(self, path: Path, settings: AuditSettings) -> None:
        self._path = path
        self._settings = settings
        self.fault: str | None = None
        """Why lines cannot be written now."""
        self.lost = 0
        """How many lines were given up; all of them about calls that had no effect."""
        self._waiting: deque[Waiting] = deque()
        self._needed_bytes = self._waiting_bytes = 0
        self._file: int | None = None
        self._size = 0
        self._checked = 0.0
        self._pruned = -PRUNE_SECONDS

    @property
    def waiting(self) -> int:
        """How many lines wait to be written."""
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether so many lines wait that those of another call could not be kept."""
        return self._needed_bytes >= WAITING_BYTES

    def append(self, line: bytes, is_needed: bool = True) -> None:
        """Write a line after all that wait; the operating system has it when this returns."""
        if (self._waiting and not self.flush()) or not self._try_to_write(line):
            self._wait(Waiting(line, is_needed))

    def flush(self) -> bool:
        """Write what waits; returns whether nothing waits any more."""
        while self._waiting:
            if not self._try_to_write(self._waiting[0].line):
                return False
            self._forget(self._waiting.popleft())
        return True

    def prune(self) -> None:
        """Delete full files that are too old, or too many for the disk."""
        now, left = time.time(), self._settings.disk_bytes - self._most
        older = (file for file in files_of(self._path) if file != self._path)
        for number, file in enumerate(older, 2):
            with contextlib.suppress(OSError):
                status = file.stat()
                left -= status.st_size
                is_old = now - status.st_mtime > self._settings.keep_days * DAY_SECONDS
                if is_old or left < 0 or number > MOST_FILES:
                    file.unlink()

    def settle(self) -> None:
        """Do what is due: write what waits, delete what is too old."""
        self.flush()
        now = time.monotonic()
        if now - self._pruned > PRUNE_SECONDS:
            self._pruned = now
            self.prune()

    def close(self) -> None:
        if not self.flush():
            _log.error("%s lacks %s lines: %s", self._path, self.waiting, self.fault)
        self._close()

    @property
    def _most(self) -> int:
        """How large one file may be: two must fit."""
        one, all = self._settings.max_bytes, self._settings.disk_bytes
        return one if 2 * one <= all else all // 2

    def _try_to_write(self, line: bytes) -> bool:
        try:
            self._write(line)
        except OSError as error:
            self._failed(error)
            return False
        if self.fault is not None:
            _log.warning("%s is written again.", self._path)
            self.fault = None
        return True

    def _failed(self, error: OSError) -> None:
        if self.fault is None:
            _log.error("%s cannot be written: %s. Its lines wait in memory.", self._path, error)
        self.fault = error.strerror or str(error)
        # When the file is opened again, a half-written line is ended first.
        self._close()

    def _wait(self, waiting: Waiting) -> None:
        if self.is_full and not waiting.is_needed:
            self.lost += 1
            return
        self._waiting.append(waiting)
        self._waiting_bytes += len(waiting.line)
        self._needed_bytes += len(waiting.line) if waiting.is_needed else 0
        if self._waiting_bytes > WAITING_BYTES:
            self._make_room()

    def _forget(self, waiting: Waiting) -> None:
        self._waiting_bytes -= len(waiting.line)
        self._needed_bytes -= len(waiting.line) if waiting.is_needed else 0

    def _make_room(self) -> None:
        """Give up the lines of calls that had no effect."""
        needed = deque(waiting for waiting in self._waiting if waiting.is_needed)
        self.lost += len(self._waiting) - len(needed)
        self._waiting, self._waiting_bytes = needed, self._needed_bytes

    def _write(self, line: bytes) -> None:
        now = time.monotonic()
        if now - self._checked > CHECK_SECONDS:
            self._checked = now
            self._forget_deleted()
        if self._file is None:
            self._file, self._size = _open(self._path)
        if self._size and self._size + len(line) > self._most:
            self._close()
            _rotate_unless_busy(self._path)
            self.prune()
            self._file, self._size = _open(self._path)
        self._size += len(line)
        while line:
            line = line[os.write(self._file, line) :]

    def _forget_deleted(self) -> None:
        """Close a file that was deleted, so that a new one is opened."""
        if self._file is not None and not os.fstat(self._file).st_nlink:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file, self._size = None, 0


def read(path: Path, earliest: str = "", live: str = "") -> Iterator[Entry]:
    """The entries of all files, newest first; damaged lines are skipped.

    `earliest` leaves out files that end before that time. `live` begins the ids of the calls of a
    server that still runs: if they have no end yet, they are not shown.
    """
    pairs = Pairs()
    for line in lines_of(path, earliest):
        head = head_of(line)
        if head is None or pairs.hides(head):
            continue
        entry = msgspec.json.decode(line)
        if not head.began:
            yield entry
        elif not live or not head.call.startswith(live):
            yield without_end(entry)


class Head(msgspec.Struct):
    """What has to be known about a line before it is read as a whole."""

    timestamp: str = ""
    client: str = ""
    session: str | None = None
    call: str = ""
    began: bool = False
    withdrawn: bool = False


def head_of(line: bytes) -> Head | None:
    """The head of a line; None if the line is damaged."""
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.json.decode(line, type=Head)
    return None


class Pairs:
    """Tells, line by line from the newest on, which lines say nothing that is not said later."""

    def __init__(self) -> None:
        self._ended: set[str] = set()
        """The calls whose end was seen, but not their beginning yet."""

    def hides(self, head: Head) -> bool:
        """Whether a line is not shown: a beginning with an end, or an end that was only assumed."""
        if not head.call:
            return False
        is_known = head.call in self._ended
        if head.began:
            self._ended.discard(head.call)
        else:
            self._ended.add(head.call)
        return is_known or head.withdrawn


class Position(NamedTuple):
    """Where a line begins. A file keeps its number when it is renamed for a newer one."""

    file: int
    offset: int


class Located(NamedTuple):
    """A line and where it is."""

    position: Position
    line: bytes


def lines_of(path: Path, earliest: str = "") -> Iterator[bytes]:
    """The lines of all files that do not end before a time, newest first."""
    return (line for _, line in located_lines(path, earliest))


def located_lines(
    path: Path, earliest: str = "", before: Position | None = None
) -> Iterator[Located]:
    """The same with their positions; if `before` is given, only those that were written before it.

    There are none if that file was deleted meanwhile, and all older ones with it.
    """
    seen: set[int] = set()
    while (file := _unread(path, seen)) is not None:
        with contextlib.suppress(FileNotFoundError), file.open("rb") as opened:
            status = os.fstat(opened.fileno())
            if iso(status.st_mtime) < earliest:
                return
            number, end = status.st_ino, status.st_size
            # A file is renamed when the log goes on in a new one, even while it is read.
            is_unread = number not in seen
            seen.add(number)
            if before is not None:
                is_unread = is_unread and number == before.file
                end = min(end, before.offset)
                before = None if is_unread else before
            if end and is_unread:
                with mmap(opened.fileno(), end, access=ACCESS_READ) as content:
                    for begin, line in _backwards(content):
                        yield Located(Position(number, begin), line)


def _unread(path: Path, seen: set[int]) -> Path | None:
    for file in files_of(path):
        with contextlib.suppress(FileNotFoundError):
            if file.stat().st_ino not in seen:
                return file
    return None


def _backwards(content: mmap) -> Iterator[tuple[int, bytes]]:
    end = len(content)
    while end:
        begin = content.rfind(b"\n", 0, end - 1) + 1
        yield begin, content[begin:end]
        end = begin


def files_of(path: Path) -> list[Path]:
    """The current file, if there is one, and the full ones, newest first."""
    numbers = (
        file.name.removeprefix(f"{path.name}.") for file in path.parent.glob(f"{path.name}.*")
    )
    known = sorted(int(number) for number in numbers if number.isdecimal())
    older = [path.with_name(f"{path.name}.{number}") for number in known]
    return [path, *older] if path.exists() else older


def _rotate_unless_busy(path: Path) -> None:
    """Begin a new file; while another process follows the old one on Windows, that one grows."""
    try:
        _rotate(path)
    except OSError as error:
        if not is_busy(error):
            raise


def _rotate(path: Path) -> None:
    for number, file in reversed(list(enumerate(files_of(path), 1))):
        file.replace(path.with_name(f"{path.name}.{number}"))


def _open(path: Path) -> tuple[int, int]:
    """Open a file to append to it; returns its size too. A half-written last line is ended."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | BINARY, 0o600)
    try:
        end = os.lseek(file, 0, os.SEEK_END)
        if end and read_at(file, 1, end - 1) != b"\n":
            end += os.write(file, b"\n")
    except OSError:
        os.close(file)
        raise
    return file, end
