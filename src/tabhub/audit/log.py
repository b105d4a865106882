"""The audit log: the newest entries in memory, all of them on disk, one line of JSON each.

It also counts calls for `/health` and `/metrics`.
"""

import logging
import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tabhub.audit.entry import Entry, beginning_of, did_nothing, entry_of, iso, without_end
from tabhub.audit.files import (
    AuditFile,
    Head,
    Located,
    Pairs,
    Position,
    files_of,
    head_of,
    lines_of,
    located_lines,
)
from tabhub.audit.limits import DAY_SECONDS, Budget, Fold, Folding, Room, payer_of
from tabhub.audit.redaction import Redactor
from tabhub.audit.search import AuditFilter
from tabhub.calls.ports import AuditEvent
from tabhub.config.settings import AuditSettings
from tabhub.errors import REASONS, Unavailable

KEPT_IN_MEMORY = 500
IN_MEMORY = 0
"""In a position, in place of a file."""
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
"""Upper bounds of the histogram of durations, in seconds."""
DAY_MINUTES = 24 * 60
OK = "ok"
TEN_MINUTES = len("2026-11-15T10:3")
"""The part of a timestamp that is the same for ten minutes."""

_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode


class _LineInMemory(NamedTuple):
    """An entry in memory, only as JSON: as an object it would take three times the space."""

    number: int
    line: bytes


class AuditLog:
    """Records events. What cannot be written waits in memory."""

    def __init__(
        self, path: Path | None, settings: AuditSettings, known_secrets: Iterable[str] = ()
    ) -> None:
        self._settings = settings
        self._path = path
        self._file = None if path is None else AuditFile(path, settings)
        self._redactor = Redactor(known_secrets, guess=settings.redact)
        self._folding = Folding()
        self._budget = Budget(lambda: settings.client_bytes_per_day, time.monotonic)
        self.counts = Counts()
        self._newest: deque[_LineInMemory] = deque(maxlen=KEPT_IN_MEMORY)
        self._numbers = count(1)

    def recover(self) -> None:
        """Continue the log of the last server: its calls without an end, and the day's budgets."""
        if self._path is None:
            return
        last = _Last(time.time())
        try:
            last.read(self._path)
        except OSError as error:
            _log.error("%s cannot be read: %s", self._path, error)
        for client, size, ago in last.sizes():
            self._budget.add(client, size, max(ago, 0.0))
        for line in reversed(last.begun):
            entry = without_end(msgspec.json.decode(line))
            self._keep(entry, str(entry.get("client", "")))

    def hide(self, secret: str) -> None:
        """Redact this secret from now on."""
        self._redactor = self._redactor.knowing([secret])

    def room(self, client: str) -> Room:
        """Hold room for the lines of one call; raises if there is none, or none can be written."""
        self._require_writable()
        return self._budget.room(client)

    def begin(self, event: AuditEvent) -> None:
        """Write that a call begins, for the case that the server does not live to see its end."""
        self._append(_encode(beginning_of(event, self._redactor)), event.client)
        self._require_writable()

    def withdraw(self, event: AuditEvent) -> None:
        """Note that a call that began did nothing, and that no entry about it follows."""
        facts = {"timestamp": iso(event.time), "client": event.client, "call": event.call}
        self._append(_encode({**facts, "withdrawn": True}), event.client)

    def record(self, event: AuditEvent) -> None:
        """Write an event; the system has it when this returns, unless it is folded."""
        if folds := self._folding.over(event.time):
            self._keep_folds(folds)
        self.counts.add(event)
        if self._folding.admits(event, self._budget.is_over):
            self._keep_event(event)

    def settle(self, now: float) -> None:
        """Write the folded entries whose time is over, and what could not be written before."""
        self._keep_folds(self._folding.over(now))
        if self._file is not None:
            self._file.settle()

    def state(self) -> dict[str, Any]:
        """Whether the file can be written, for `/health`."""
        file = self._file
        if file is None:
            return {"waiting": 0, "lost": 0, "fault": None}
        return {"waiting": file.waiting, "lost": file.lost, "fault": file.fault}

    def entries(
        self,
        limit: int | None = None,
        plugin: str | None = None,
        tool: str | None = None,
        success: bool | None = None,
    ) -> list[Entry]:
        """The entries in memory that match, newest first; None matches everything."""
        filter = AuditFilter(plugin=plugin, tool=tool, success=success)
        return [msgspec.json.decode(line) for line in islice(self._matching(filter), limit)]

    def lines(self, limit: int, filter: AuditFilter) -> list[bytes]:
        """The same as JSON."""
        return list(islice(self._matching(filter), limit))

    def located(self, before: Position | None = None) -> Iterator[Located]:
        """All lines with their positions, newest first; those in memory, if that is all there is.

        The lines may be read in another thread.
        """
        self._keep_folds(self._folding.take())
        if self._path is not None and self._file is not None and not self._file.waiting:
            return located_lines(self._path, before=before)
        last = before.offset if before is not None and before.file == IN_MEMORY else None
        newest = [] if before is not None and last is None else list(reversed(self._newest))
        return (
            Located(Position(IN_MEMORY, kept.number), kept.line)
            for kept in newest
            if last is None or kept.number < last
        )

    def close(self) -> None:
        self._keep_folds(self._folding.take())
        if self._file is not None:
            self._file.close()

    def _matching(self, filter: AuditFilter) -> Iterator[bytes]:
        self._keep_folds(self._folding.take())
        # A copy, since calls may add entries while a reader iterates.
        newest = [kept.line for kept in reversed(self._newest)]
        if filter == AuditFilter():
            return iter(newest)
        matches = filter.matcher()
        return (line for line in newest if matches(msgspec.json.decode(line)))

    def _keep_folds(self, folds: Iterable[Fold]) -> None:
        for event, times in folds:
            self._keep_event(event, {"times": times})

    def _keep_event(self, event: AuditEvent, more: Mapping[str, Any] | None = None) -> None:
        entry = entry_of(event, self._redactor)
        is_needed = bool(event.call) or not did_nothing(event)
        self._keep({**entry, **more} if more else entry, payer_of(event), is_needed)

    def _keep(self, entry: Entry, client: str, is_needed: bool = True) -> None:
        line = _encode(entry)
        self._newest.append(_LineInMemory(next(self._numbers), line))
        self._append(line, client, is_needed)

    def _append(self, line: bytes, client: str, is_needed: bool = True) -> None:
        self._budget.add(client, len(line) + 1)
        if self._file is not None:
            self._file.append(line + b"\n", is_needed)

    def _require_writable(self) -> None:
        """Refuse a call whose lines could not be kept, or not written where the person says so."""
        file = self._file
        # As long as lines wait, there is a fault.
        if file is None or file.fault is None:
            return
        if (self._settings.required or file.is_full) and not file.flush():
            raise Unavailable(
                f"The audit log cannot be written ({file.fault}), and calls that it would not "
                "have are refused. Nothing was done. Tell the person.",
                "server_unavailable",
            )


class _Last:
    """What the last server wrote in its last day, read from the newest line on."""

    def __init__(self, now: float) -> None:
        self._now = now
        self._yesterday = iso(now - DAY_SECONDS)
        self._pairs = Pairs()
        self._sizes: Counter[tuple[str, str]] = Counter()
        """Bytes by client and ten minutes, of those lines that are less than a day old."""
        self.begun: list[bytes] = []
        """The beginnings without an end."""

    def read(self, path: Path) -> None:
        for line in lines_of(path, iso(max(_written(path) - DAY_SECONDS, 0))):
            if (head := head_of(line)) is not None:
                self._take(head, line)

    def sizes(self) -> Iterator[tuple[str, int, float]]:
        """Client, bytes and age in seconds, oldest first."""
        for (client, minutes), size in reversed(self._sizes.items()):
            with suppress(ValueError):
                yield client, size, self._now - datetime.fromisoformat(f"{minutes}0Z").timestamp()

    def _take(self, head: Head, line: bytes) -> None:
        if not self._pairs.hides(head) and head.began:
            self.begun.append(line)
        if head.timestamp >= self._yesterday:
            self._sizes[payer_of(head), head.timestamp[:TEN_MINUTES]] += len(line)


def _written(path: Path) -> float:
    """When the newest file was written last."""
    newest = files_of(path)[:1]
    return newest[0].stat().st_mtime if newest else 0.0


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
