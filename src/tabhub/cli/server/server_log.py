"""`tabhub logs`: prints the server's log, and follows it across rotations."""

import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tabhub.cli import FAILED
from tabhub.cli.following import FollowedFile
from tabhub.cli.output import harmless
from tabhub.config.paths import Home

PLUGIN_LOGGERS = "tabhub.plugins."
_RECORD = re.compile(r"\d{4}-\d\d-\d\d \S+ [A-Z]+ (\S+?): ")
"""How a record begins; other lines continue the record before them."""


def run(following: bool, lines: int, plugin: str | None) -> None:
    log = Home.from_environment().log
    is_shown = _every_line if plugin is None else _lines_of(f"{PLUGIN_LOGGERS}{plugin}")
    if following:
        _print(filter(is_shown, _follow(log, lines)))
    elif log.exists():
        _print(deque(filter(is_shown, _read(log)), maxlen=lines))
    else:
        print(f"tabhub: No server has run here yet: there is no {log}.", file=sys.stderr)
        sys.exit(FAILED)


def _print(lines: Iterable[str]) -> None:
    clean = harmless if sys.stdout.isatty() else str
    for line in lines:
        print(clean(line), flush=True)


def _every_line(line: str) -> bool:
    return True


def _lines_of(logger: str) -> Callable[[str], bool]:
    """A filter for the records of a logger and of those below it."""
    belongs = False

    def check(line: str) -> bool:
        nonlocal belongs
        record = _RECORD.match(line)
        if record:
            belongs = record[1] == logger or record[1].startswith(f"{logger}.")
        return belongs

    return check


def _read(path: Path) -> Iterator[str]:
    """The lines of the rotated file and of the current one, oldest first."""
    for file in (_rotated(path), path):
        if file.exists():
            with file.open("rb") as lines:
                yield from map(_text, lines)


def _follow(path: Path, count: int) -> Iterator[str]:
    """The last lines, then each new one, without end."""
    followed = FollowedFile(path)
    yield from deque(_existing_lines(followed, path), maxlen=count)
    yield from map(_text, followed.endless())


def _existing_lines(followed: FollowedFile, path: Path) -> Iterator[str]:
    rotated = _rotated(path)
    # If the followed file has just been rotated, its lines would come twice.
    if rotated.exists() and not followed.is_at(rotated):
        with rotated.open("rb") as lines:
            yield from map(_text, lines)
    yield from map(_text, followed.lines())


def _rotated(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r\n")
