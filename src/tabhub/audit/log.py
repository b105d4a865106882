"""The audit log: the newest entries in memory, all of them on disk, one line of JSON each."""

import contextlib
import logging
import os
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import msgspec

from tabhub.audit.entry import Entry, Fold, Folding, entry_of, iso
from tabhub.audit.redaction import Redactor
from tabhub.calls.ports import Event
from tabhub.config.settings import AuditSettings
from tabhub.errors import REASONS

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
"""Seconds by which calls are told apart."""
DAY_MINUTES = 24 * 60
OK = "ok"


class Timing:
    """How long the calls of one kind took."""

    __slots__ = ("buckets", "seconds")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0


class Counts:
    """Since the server started, and over the last day."""

    def __init__(self) -> None:
        self.outcomes: dict[tuple[str, str], int] = {}
        """By tool, and by `ok` or the reason word."""
        self.timings: dict[str, Timing] = {}
        self._day: deque[list[int]] = deque()
        """Of each minute in which there were calls: which it was, good ones, bad ones."""

    def add(self, event: Event) -> None:
        # What belongs to no session is no call.
        if not event.session:
            return
        error, tool = event.error, label(event)
        self._minute(event.time)[1 if error is None else 2] += 1
        outcome = OK if error is None else error.reason if error.reason in REASONS else "internal"
        key = tool, outcome
        self.outcomes[key] = self.outcomes.get(key, 0) + 1
        timing = self.timings.get(tool)
        if timing is None:
            timing = self.timings[tool] = Timing()
        seconds = event.duration_ms / 1000
        timing.buckets[bisect_left(BOUNDS, seconds)] += 1
        timing.seconds += seconds

    def summary(self, now: float) -> dict[str, Any]:
        """What `/health` tells."""
        self._forget(now)
        good, bad = sum(minute[1] for minute in self._day), sum(minute[2] for minute in self._day)
        total = sum(self.outcomes.values())
        succeeded = sum(count for (_, outcome), count in self.outcomes.items() if outcome == OK)
        seconds = sum(timing.seconds for timing in self.timings.values())
        return {
            "totalInvocations": total,
            "successCount": succeeded,
            "failureCount": total - succeeded,
            "last24h": {"total": good + bad, "success": good, "failure": bad},
            "avgDurationMs": round(seconds * 1000 / total, 3) if total else 0,
        }

    def _minute(self, time: float) -> list[int]:
        number = int(time // 60)
        if not self._day or self._day[-1][0] != number:
            self._forget(time)
            self._day.append([number, 0, 0])
        return self._day[-1]

    def _forget(self, now: float) -> None:
        first = int(now // 60) - DAY_MINUTES
        while self._day and self._day[0][0] <= first:
            self._day.popleft()


def label(event: Event) -> str:
    """The tool's name where we chose it: pages and clients may think of any number of names."""
    if event.plugin == "browser":
        return event.tool
    unknown = event.error is not None and event.error.reason == "unknown_tool"
    return "unknown" if unknown else "other"


KEPT_IN_MEMORY = 500
OLDER_FILES = 5
LOOK_SECONDS = 1.0
_log = logging.getLogger(__name__)


class AuditLog:
    """Takes events; what it cannot write it keeps in memory, and no call fails for it."""

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
        """Written once: whoever reads the newest entries must not keep calls waiting."""
        self._file: int | None = None
        self._size = 0
        self._looked = 0.0
        self._complained = False

    def hide(self, secret: str) -> None:
        """Never write this down."""
        self._redactor = self._redactor.knowing([secret])

    def record(self, event: Event) -> None:
        """Keep an event; it is in the file when this returns, or counted if it did nothing."""
        self.settle(event.time)
        self.counts.add(event)
        if self._folding.admits(event):
            self._keep(entry_of(event, self._redactor))

    def settle(self, now: float) -> None:
        """Write down what was only counted, once its minute is over."""
        self._keep_folds(self._folding.over(now))

    def _keep_folds(self, folds: Iterable[Fold]) -> None:
        for event, times in folds:
            self._keep({**entry_of(event, self._redactor), "times": times})

    def _keep(self, entry: Entry) -> None:
        line = msgspec.json.encode(entry)
        self._newest.append((entry, line))
        if self._path is not None:
            self._append(self._path, line + b"\n")

    def entries(
        self,
        limit: int | None = None,
        plugin: str | None = None,
        tool: str | None = None,
        success: bool | None = None,
    ) -> list[Entry]:
        """The newest first; what is None does not matter."""
        wanted = {"plugin": plugin, "tool": tool, "success": success}
        return [entry for entry, _ in islice(self._fitting(wanted), limit)]

    def lines(self, limit: int, since: float | None, **wanted: Any) -> list[bytes]:
        """The newest first, as JSON, beginning at a time."""
        fitting = self._fitting(wanted)
        if since is None:
            return [line for _, line in islice(fitting, limit)]
        first = iso(since)
        lines = (line for entry, line in fitting if entry["timestamp"] >= first)
        return list(islice(lines, limit))

    def _fitting(self, wanted: Mapping[str, Any]) -> Iterator[tuple[Entry, bytes]]:
        self._keep_folds(self._folding.take())
        asked = [(key, value) for key, value in wanted.items() if value is not None]
        # Not lazily: calls may add entries while somebody reads.
        newest = list(reversed(self._newest))
        if not asked:
            return iter(newest)
        return (kept for kept in newest if all(kept[0][key] == value for key, value in asked))

    def _append(self, path: Path, line: bytes) -> None:
        try:
            self._write(path, line)
            self._complained = False
        except OSError as error:
            self.failures += 1
            if not self._complained:
                _log.error("%s cannot be written: %s. Calls go on without it.", path, error)
            self._complained = True
            # Opened anew, a line that was written by half is closed first.
            self._shut()

    def _write(self, path: Path, line: bytes) -> None:
        self._look()
        if self._file is None:
            self._file, self._size = _open(path)
        if self._size + len(line) > self._max_bytes:
            self._shut()
            _rotate(path)
            self._file, self._size = _open(path)
        self._size += len(line)
        while line:
            line = line[os.write(self._file, line) :]

    def _look(self) -> None:
        """Now and then: somebody may have taken the file away."""
        now = time.monotonic()
        if self._file is not None and now - self._looked > LOOK_SECONDS:
            self._looked = now
            if not os.fstat(self._file).st_nlink:
                self._shut()

    def close(self) -> None:
        self._keep_folds(self._folding.take())
        self._shut()

    def _shut(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file, self._size = None, 0


def read(path: Path) -> Iterator[Entry]:
    """What all files have, the oldest first; a line that is not whole is left out."""
    for file in reversed(files_of(path)):
        with contextlib.suppress(FileNotFoundError), file.open("rb") as lines:
            for line in lines:
                with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                    yield msgspec.json.decode(line, type=Entry)


def files_of(path: Path) -> list[Path]:
    """The file that is written to, and those that were full, the newest first."""
    older = (path.with_name(f"{path.name}.{number}") for number in range(1, OLDER_FILES + 1))
    return [path, *older]


def _rotate(path: Path) -> None:
    for older, newer in pairwise(reversed(files_of(path))):
        with contextlib.suppress(FileNotFoundError):
            newer.replace(older)


def _open(path: Path) -> tuple[int, int]:
    """Ready to append, and its size; a line that was torn before does not spoil the next one."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    end = os.lseek(file, 0, os.SEEK_END)
    if end and os.pread(file, 1, end - 1) != b"\n":
        end += os.write(file, b"\n")
    return file, end
