"""`tabhub audit`: what was done, the newest first."""

import re
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from tabhub.audit.entry import iso
from tabhub.audit.log import read
from tabhub.cli import running
from tabhub.cli.output import print_json, print_table, wants_json
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments

COLUMNS = ("time", "who", "took", "outcome", "what")
LONGEST_NAME = 24
LONGEST_VALUE = 40
LONGEST_WHAT = 160
SLOW_MS = 10_000

ReadEntry = Mapping[str, Any]


def row(entry: ReadEntry) -> tuple[str, ...]:
    what = " ".join(_what(entry))
    return (
        _here(str(entry.get("timestamp", ""))),
        _cut(who(str(entry.get("client", "")), entry.get("agent")), LONGEST_NAME),
        _span(entry.get("durationMs") or 0),
        _outcome(entry),
        _cut(what, LONGEST_WHAT),
    )


def who(client: str, agent: str | None) -> str:
    """A client, and what the agent that has its token calls itself."""
    return f"{client} ({agent})" if agent and agent != client else client


def _here(time: str) -> str:
    """By the clock on the wall; the day only if it is another."""
    try:
        then = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return time
    is_today = then.date() == datetime.now().astimezone().date()
    return f"{then:%H:%M:%S}" if is_today else f"{then:%Y-%m-%d %H:%M}"


def _span(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < SLOW_MS else f"{ms / 1000:.1f} s"


def _outcome(entry: ReadEntry) -> str:
    """With how many there were, where one entry stands for all."""
    times = entry.get("times", 1)
    return _result(entry) if times == 1 else f"{_result(entry)} ×{times}"


def _result(entry: ReadEntry) -> str:
    error = entry.get("error")
    if isinstance(error, dict):
        return f"failed: {error.get('reason')}"
    return "ok" if entry.get("success", True) else "failed"


def _what(entry: ReadEntry) -> Iterator[str]:
    """The tool, its tab, and what it was given, in short; where it was, if that does not say it."""
    yield str(entry.get("tool", ""))
    if entry.get("tabId") is not None:
        yield f"tab {entry['tabId']}"
    arguments = entry.get("arguments")
    given = arguments if isinstance(arguments, dict) else {}
    if entry.get("origin") and "url" not in given:
        yield f"on {entry['origin']}"
    for name, value in given.items():
        if name != "tabId":
            yield f"{name}={_cut(_short(value), LONGEST_VALUE)}"
    error = entry.get("error")
    if isinstance(error, dict):
        yield f"- {error.get('message')}"


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_short, value))
    if isinstance(value, dict):
        return "{" + ", ".join(map(str, value)) + "}"
    return str(value)


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


_AGO = re.compile(r"(\d{1,9})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(written: str, now: datetime) -> datetime:
    """`10m`, `2h`, `3d` before now, or an ISO date or time, of this place if it names no zone."""
    ago = _AGO.fullmatch(written)
    try:
        if ago:
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return datetime.fromisoformat(written).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidArguments(
            f"{written!r} is no time: write 10m, 2h, 3d or 2026-11-15T12:30."
        ) from None


Entry = dict[str, Any]
MOST_FROM_SERVER = 500
USUAL = 50


@dataclass(frozen=True)
class Wanted:
    """Which entries somebody wants to see; what is None does not matter."""

    limit: int | None
    plugin: str | None
    tool: str | None
    client: str | None
    success: bool | None
    first: str
    """The earliest time, in the form that entries have it."""

    @cached_property
    def asked(self) -> dict[str, Any]:
        """What an entry must say."""
        named = {
            "plugin": self.plugin,
            "tool": self.tool,
            "client": self.client,
            "success": self.success,
        }
        return {key: value for key, value in named.items() if value is not None}

    def of(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        for entry in entries:
            is_new = str(entry.get("timestamp", "")) >= self.first
            if is_new and all(entry.get(key) == value for key, value in self.asked.items()):
                yield entry


def beginning(since: str | None) -> str:
    """What a person has written about the earliest time, as entries have it."""
    return "" if since is None else iso(max(moment(since, datetime.now(UTC)).timestamp(), 0))


def run(wanted: Wanted, from_file: bool, as_json: bool) -> None:
    home = Home.from_environment()
    entries = _from_file(home, wanted) if from_file else _from_server(home, wanted)
    if wants_json(as_json):
        print_json(entries)
        return
    print_table(COLUMNS, map(row, entries))


def _from_file(home: Home, wanted: Wanted) -> list[Entry]:
    most = None if wanted.limit is None else wanted.limit + 1
    newest = deque(wanted.of(read(home.audit)), maxlen=most)
    return _at_most(wanted.limit, list(reversed(newest)))


def _from_server(home: Home, wanted: Wanted) -> list[Entry]:
    limit = wanted.limit or (MOST_FROM_SERVER if wanted.first else USUAL)
    if limit > MOST_FROM_SERVER:
        raise InvalidArguments(
            f"The server remembers {MOST_FROM_SERVER} entries; --file reads all that are kept."
        )
    since = {"since": wanted.first} if wanted.first else {}
    asked = min(limit + 1, MOST_FROM_SERVER)
    entries = running.audit(home, {"limit": asked, **wanted.asked, **since})
    if wanted.first:
        _tell_of_older(home, wanted, len(entries))
    return _at_most(limit, entries)


def _at_most(limit: int | None, entries: list[Entry]) -> list[Entry]:
    if limit is None or len(entries) <= limit:
        return entries
    _say(f"There are more than {limit}; --limit N shows more, --file all that are kept.")
    return entries[:limit]


def _tell_of_older(home: Home, wanted: Wanted, count: int) -> None:
    """What the server does not remember may still be on disk."""
    facts = running.find(home)
    started = "" if facts is None else iso(time.time() - facts["uptime"])
    if count == MOST_FROM_SERVER or wanted.first < started:
        _say(f"The server remembers its own last {MOST_FROM_SERVER}; --file reads all.")


def _say(what: str) -> None:
    print(f"tabhub: {what}", file=sys.stderr)
