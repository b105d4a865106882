"""Reading a file that another process writes, renames and begins anew."""

import os
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

LOOK_SECONDS = 0.2


def kept(path: Path) -> Iterator[str]:
    """The lines of the older file and of this one, the oldest first."""
    for file in (_older(path), path):
        if file.exists():
            with file.open("rb") as lines:
                yield from map(_text, lines)


def follow(path: Path, count: int) -> Iterator[str]:
    """The last lines there are, then each one as it comes; without end."""
    followed = _Followed(path)
    yield from deque(_there_now(followed, path), maxlen=count)
    while True:
        # Looked at first: whoever has begun another file writes no more to this one.
        is_left = followed.is_left(path)
        yield from followed.lines()
        if is_left:
            followed = _Followed(path)
        else:
            time.sleep(LOOK_SECONDS)


class _Followed:
    """One file, read as far as it has whole lines."""

    def __init__(self, path: Path) -> None:
        self._file = _opened(path)
        self._begun = b""

    def lines(self) -> Iterator[str]:
        if os.fstat(self._file.fileno()).st_size < self._file.tell():
            self._file.seek(0)
        for part in self._file:
            self._begun += part
            if self._begun.endswith(b"\n"):
                yield _text(self._begun)
                self._begun = b""

    def is_left(self, path: Path) -> bool:
        """Whether the name has gone to another file."""
        try:
            return not self.is_at(path)
        except FileNotFoundError:
            return False

    def is_at(self, path: Path) -> bool:
        return os.path.samestat(path.stat(), os.fstat(self._file.fileno()))


def _there_now(followed: _Followed, path: Path) -> Iterator[str]:
    older = _older(path)
    # It may just have been renamed, and would be told twice.
    if older.exists() and not followed.is_at(older):
        with older.open("rb") as lines:
            yield from map(_text, lines)
    yield from followed.lines()


def _opened(path: Path) -> BinaryIO:
    """The file, as soon as there is one."""
    while True:
        try:
            return path.open("rb")
        except FileNotFoundError:
            time.sleep(LOOK_SECONDS)


def _older(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r\n")
