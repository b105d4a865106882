"""Follows a log file as it grows, across rotations."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from tabhub.system.locks import read_at

POLL_SECONDS = 0.2


class FollowedFile:
    """An open log file, read line by line; an unfinished line waits for its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _open_when_created(path)
        self._unfinished = b""

    def lines(self) -> Iterator[bytes]:
        """The lines that were not read yet."""
        if os.fstat(self._file.fileno()).st_size < self._file.tell():
            self._file.seek(0)
        for part in self._file:
            self._unfinished += part
            if self._unfinished.endswith(b"\n"):
                yield self._unfinished
                self._unfinished = b""

    def endless(self) -> Iterator[bytes]:
        """The lines that were not read yet, then each new one, also of newer files."""
        while True:
            # Checked before reading: nothing is written to the old file after a rotation.
            is_rotated = self._is_rotated()
            yield from self.lines()
            if is_rotated:
                self._file.close()
                self._file, self._unfinished = _open_when_created(self._path), b""
            else:
                time.sleep(POLL_SECONDS)

    def skip(self) -> tuple[int, int]:
        """Go to the end of the last whole line; returns the file's number and that place."""
        status = os.fstat(self._file.fileno())
        end = status.st_size
        while end and read_at(self._file.fileno(), 1, end - 1) != b"\n":
            end -= 1
        self._file.seek(end)
        return status.st_ino, end

    def is_at(self, path: Path) -> bool:
        return os.path.samestat(path.stat(), os.fstat(self._file.fileno()))

    def _is_rotated(self) -> bool:
        """Whether another file has taken the path."""
        try:
            return not self.is_at(self._path)
        except FileNotFoundError:
            return False


def _open_when_created(path: Path) -> BinaryIO:
    while True:
        try:
            return path.open("rb")
        except FileNotFoundError:
            time.sleep(POLL_SECONDS)
