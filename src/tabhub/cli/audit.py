"""`tabhub audit`: shows the audit log, newest entry first, from the server's memory or the disk."""

import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Any

from tabhub.audit.entry import iso
from tabhub.audit.files import read
from tabhub.cli import running
from tabhub.cli.output import print_json, print_table, wants_json
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments
from tabhub.wire.tool_names import listed_name

DEFAULT_LIMIT = 50
SERVER_ENTRIES = 500
"""How many entries the server keeps in memory."""
COLUMNS = ("time", "who", "took", "outcome", "what")
LONGEST_NAME = 24
LONGEST_VALUE = 40
LONGEST_WHAT = 160
SLOW_MS = 10_000
_AGO = re.compile(r"(\d{1,9})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

Entry = dict[str, Any]


@dataclass(frozen=True)
class Filter:
    """Which entries to show; None accepts every value."""

    limit: int | None
    plugin: str | None
    tool: str | None
    client: str | None
    success: bool | None
    earliest: str
    """The earliest timestamp, in the form that entries have."""

    @cached_property
    def members(self) -> dict[str, Any]:
        """The members that an entry must have."""
        named = {
            "plugin": self.plugin,
            "tool": None if self.tool is None else listed_name(self.tool),
            "client": self.client,
            "success": self.success,
        }
        return {key: value for key, value in named.items() if value is not None}

    def matching(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        for entry in entries:
            is_new = str(entry.get("timestamp", "")) >= self.earliest
            if is_new and all(entry.get(key) == value for key, value in self.members.items()):
                yield entry


def earliest(since: str | None) -> str:
    """The value of `--since` as a timestamp; an empty one accepts every entry."""
    return "" if since is None else iso(max(_moment(since, datetime.now(UTC)).timestamp(), 0))


def _moment(since: str, now: datetime) -> datetime:
    """`10m`, `2h`, `3d` before now, or an ISO date or time, local unless it names a zone."""
    ago = _AGO.fullmatch(since)
    try:
        if ago:
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return datetime.fromisoformat(since).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidArguments(
            f"{since!r} is not a time: write 10m, 2h, 3d or 2026-11-15T12:30."
        ) from None


def run(filter: Filter, from_file: bool, as_json: bool) -> None:
    home = Home.from_environment()
    entries = _from_file(home, filter) if from_file else _from_server(home, filter)
    if wants_json(as_json):
        print_json(entries)
        return
    print_table(COLUMNS, map(_row, entries))


def _from_file(home: Home, filter: Filter) -> list[Entry]:
    most = None if filter.limit is None else filter.limit + 1
    entries = read(home.audit, filter.earliest, running.live_calls(home))
    return _limited(filter.limit, list(islice(filter.matching(entries), most)))


def _from_server(home: Home, filter: Filter) -> list[Entry]:
    limit = filter.limit or (SERVER_ENTRIES if filter.earliest else DEFAULT_LIMIT)
    if limit > SERVER_ENTRIES:
        raise InvalidArguments(
            f"The server keeps {SERVER_ENTRIES} entries in memory; --file reads all on disk."
        )
    since = {"since": filter.earliest} if filter.earliest else {}
    most = min(limit + 1, SERVER_ENTRIES)
    entries = running.audit(home, {"limit": most, **filter.members, **since})
    if filter.earliest:
        _mention_older(home, filter, len(entries))
    return _limited(limit, entries)


def _limited(limit: int | None, entries: list[Entry]) -> list[Entry]:
    if limit is None or len(entries) <= limit:
        return entries
    _note(f"There are more than {limit}; --limit N shows more, --file reads all on disk.")
    return entries[:limit]


def _mention_older(home: Home, filter: Filter, count: int) -> None:
    """Entries that the server no longer has in memory may still be on disk."""
    facts = running.find(home)
    started = "" if facts is None else iso(time.time() - facts["uptime"])
    if count == SERVER_ENTRIES or filter.earliest < started:
        _note(f"The server keeps only its own last {SERVER_ENTRIES}; --file reads all on disk.")


def _note(text: str) -> None:
    print(f"tabhub: {text}", file=sys.stderr)


def _row(entry: Entry) -> tuple[str, ...]:
    what = " ".join(_what(entry))
    return (
        _local_time(str(entry.get("timestamp", ""))),
        _cut(_who(str(entry.get("client", "")), entry.get("agent")), LONGEST_NAME),
        _duration(entry.get("durationMs") or 0),
        _outcome(entry),
        _cut(what, LONGEST_WHAT),
    )


def _who(client: str, agent: str | None) -> str:
    """The client, and the name that its agent gives itself."""
    return f"{client} ({agent})" if agent and agent != client else client


def _local_time(timestamp: str) -> str:
    """In local time; with the date unless it is today."""
    try:
        then = datetime.fromisoformat(timestamp).astimezone()
    except ValueError:
        return timestamp
    is_today = then.date() == datetime.now().astimezone().date()
    return f"{then:%H:%M:%S}" if is_today else f"{then:%Y-%m-%d %H:%M}"


def _duration(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < SLOW_MS else f"{ms / 1000:.1f} s"


def _outcome(entry: Entry) -> str:
    """The result, with the number of calls if the entry stands for several."""
    times = entry.get("times", 1)
    return _result(entry) if times == 1 else f"{_result(entry)} ×{times}"


def _result(entry: Entry) -> str:
    if entry.get("interrupted"):
        return "began, no end recorded"
    error = entry.get("error")
    if isinstance(error, dict):
        return f"failed: {error.get('reason')}"
    return "ok" if entry.get("success", True) else "failed"


def _what(entry: Entry) -> Iterator[str]:
    """The tool, its tab, the origin unless a url is among the arguments, and the arguments."""
    yield str(entry.get("tool", ""))
    if entry.get("tabId") is not None:
        yield f"tab {entry['tabId']}"
    members = entry.get("arguments")
    arguments = members if isinstance(members, dict) else {}
    if entry.get("origin") and "url" not in arguments:
        yield f"on {entry['origin']}"
    for name, value in arguments.items():
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
