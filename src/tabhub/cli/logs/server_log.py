"""`tabhub logs`: what the server has written, and what it writes now."""

import os
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from tabhub.cli import FAILED
from tabhub.cli.output import harmless
from tabhub.config.paths import Home

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


_RECORD = re.compile(r"\d{4}-\d\d-\d\d \S+ [A-Z]+ (\S+?): ")
"""How a record begins; lines that begin otherwise belong to the one before."""
PLUGINS = "tabhub.plugins."
NO_PLUGINS = "tabhub: this version runs no plugins, so no line is of one."


def run(following: bool, lines: int, plugin: str | None) -> None:
    log = Home.from_environment().log
    if plugin is not None:
        print(NO_PLUGINS, file=sys.stderr)
    is_wanted = _everything if plugin is None else _of_logger(f"{PLUGINS}{plugin}")
    if following:
        _show(filter(is_wanted, follow(log, lines)))
    elif log.exists():
        _show(deque(filter(is_wanted, kept(log)), maxlen=lines))
    else:
        _complain(log)


def _show(lines: Iterable[str]) -> None:
    clean = harmless if sys.stdout.isatty() else str
    for line in lines:
        print(clean(line), flush=True)


def _complain(log: Path) -> None:
    print(f"tabhub: no server has run here yet: there is no {log}.", file=sys.stderr)
    sys.exit(FAILED)


def _everything(line: str) -> bool:
    return True


def _of_logger(name: str) -> Callable[[str], bool]:
    """Whether a line is of that logger, or goes on with what it has said."""
    belongs = False

    def check(line: str) -> bool:
        nonlocal belongs
        begins = _RECORD.match(line)
        if begins:
            belongs = begins[1] == name or begins[1].startswith(f"{name}.")
        return belongs

    return check
