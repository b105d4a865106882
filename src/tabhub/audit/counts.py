"""Counts calls and their times, for `/health` and `/metrics`."""

from bisect import bisect_left
from collections import deque
from typing import Any

from tabhub.calls.ports import AuditEvent
from tabhub.errors import REASONS

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
"""Upper bounds of the histogram of durations, in seconds."""
DAY_MINUTES = 24 * 60
OK = "ok"


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
