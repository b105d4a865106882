"""The audit log: the newest entries in memory, all of them on disk, one line of JSON each.

It also counts calls for `/health` and `/metrics`.
"""

import contextlib
import logging
import os
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tabhub.audit.entry import Entry, did_nothing, entry_of, iso
from tabhub.audit.redaction import Redactor
from tabhub.calls.ports import AuditEvent
from tabhub.config.settings import AuditSettings
from tabhub.errors import REASONS

KEPT_IN_MEMORY = 500
OLDER_FILES = 5
CHECK_SECONDS = 1.0
FOLD_SECONDS = 60.0
UNFOLDED = 300
"""How many entries of one client without effect are written in that time; more are folded."""
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
"""Upper bounds of the histogram of durations, in seconds."""
DAY_MINUTES = 24 * 60
OK = "ok"

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

    def _keep_folds(self, folds: Iterable["Fold"]) -> None:
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


class Fold(NamedTuple):
    """Several events in one entry: the last of them, and their number."""

    event: AuditEvent
    times: int


class _Minute:
    """The calls without effect of one client in one minute."""

    def __init__(self, began: float) -> None:
        self.ends = began + FOLD_SECONDS
        self.written = 0
        self.folds: dict[str, Fold] = {}

    def add(self, event: AuditEvent) -> bool:
        """Whether the event gets an entry of its own; otherwise it is folded."""
        if self.written < UNFOLDED:
            self.written += 1
            return True
        reason = event.error.reason if event.error is not None else ""
        before = self.folds.get(reason)
        self.folds[reason] = Fold(event, 1 if before is None else before.times + 1)
        return False

    def take(self) -> list[Fold]:
        folds, self.folds = list(self.folds.values()), {}
        return folds


class Folding:
    """Keeps a client that only fails from filling the log. Its clock is the time of the events."""

    def __init__(self) -> None:
        self._minutes: dict[str, _Minute] = {}

    def admits(self, event: AuditEvent) -> bool:
        """Whether an event is written now; otherwise it is folded."""
        if not did_nothing(event):
            return True
        minute = self._minutes.get(event.client)
        if minute is None:
            minute = self._minutes[event.client] = _Minute(event.time)
        return minute.add(event)

    def over(self, now: float) -> list[Fold]:
        """Take the folds of minutes that are over."""
        over = [client for client, minute in self._minutes.items() if minute.ends <= now]
        return [fold for client in over for fold in self._minutes.pop(client).take()]

    def take(self) -> list[Fold]:
        """Take all folds; the minutes continue."""
        return [fold for minute in self._minutes.values() for fold in minute.take()]


class Timing:
    """How long the calls of one tool took."""

    __slots__ = ("buckets", "seconds")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0


class Counts:
    """Counts calls since the server started, and over the last day."""

    def __init__(self) -> None:
        self.outcomes: dict[tuple[str, str], int] = {}
        """By tool, and by `ok` or the reason word."""
        self.timings: dict[str, Timing] = {}
        self._day: deque[list[int]] = deque()
        """Minute, successes and failures, for each minute with calls."""

    def add(self, event: AuditEvent) -> None:
        # An event without a session is not a call.
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
        """The counts in `/health`."""
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


def label(event: AuditEvent) -> str:
    """The tool's name if it is one of ours; pages and clients could invent any number of names."""
    if event.plugin == "browser":
        return event.tool
    unknown = event.error is not None and event.error.reason == "unknown_tool"
    return "unknown" if unknown else "other"
