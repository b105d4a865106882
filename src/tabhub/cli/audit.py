"""`tabhub audit`: what was done, the newest first."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from tabhub.audit.entry import iso
from tabhub.audit.log import read
from tabhub.cli import running
from tabhub.cli.moments import moment
from tabhub.cli.output import print_json, print_table, wants_json
from tabhub.config.home import Home
from tabhub.errors import InvalidArguments

Entry = dict[str, Any]
MOST_FROM_SERVER = 500
COLUMNS = ("time", "client", "tool", "ms", "outcome")


@dataclass(frozen=True)
class Wanted:
    """Which entries somebody wants to see; what is None does not matter."""

    limit: int
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
    print_table(COLUMNS, map(_row, entries))


def _from_file(home: Home, wanted: Wanted) -> list[Entry]:
    newest = deque(wanted.of(read(home.audit)), maxlen=wanted.limit)
    return list(reversed(newest))


def _from_server(home: Home, wanted: Wanted) -> list[Entry]:
    if wanted.limit > MOST_FROM_SERVER:
        raise InvalidArguments(
            f"The server remembers {MOST_FROM_SERVER} entries; --file reads all that are kept."
        )
    since = {"since": wanted.first} if wanted.first else {}
    return running.audit(home, {"limit": wanted.limit, **wanted.asked, **since})


def _row(entry: Entry) -> tuple[object, ...]:
    time = str(entry.get("timestamp", ""))
    return (
        _here(time),
        entry.get("client", ""),
        entry.get("tool", ""),
        round(entry.get("durationMs") or 0),
        _outcome(entry),
    )


def _here(time: str) -> str:
    """By the clock on the wall."""
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return time


def _outcome(entry: Entry) -> str:
    where = f" on {entry['origin']}" if entry.get("origin") else ""
    error = entry.get("error")
    if isinstance(error, dict):
        return f"{error.get('reason')}: {error.get('message')}"
    return f"{entry.get('verdict') or 'done'}{where}"
