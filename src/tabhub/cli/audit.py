"""`tabhub audit`: what was done, the newest first."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tabhub.cli import running
from tabhub.cli.moments import as_entries_have_it, moment
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
    since: str | None

    def of(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        named = {
            "plugin": self.plugin,
            "tool": self.tool,
            "client": self.client,
            "success": self.success,
        }
        asked = {key: value for key, value in named.items() if value is not None}
        first = self._first()
        for entry in entries:
            if str(entry.get("timestamp", "")) >= first and all(
                entry.get(key) == value for key, value in asked.items()
            ):
                yield entry

    def _first(self) -> str:
        if self.since is None:
            return ""
        return as_entries_have_it(moment(self.since, datetime.now(UTC)))


def run(wanted: Wanted, from_file: bool, as_json: bool) -> None:
    home = Home.from_environment()
    entries = _from_file(home, wanted) if from_file else _from_server(home, wanted)
    if wants_json(as_json):
        print_json(entries)
        return
    print_table(COLUMNS, map(_row, entries))


def _from_file(home: Home, wanted: Wanted) -> list[Entry]:
    from tabhub.audit.log import read

    newest = deque(wanted.of(read(home.audit)), maxlen=wanted.limit)
    return list(reversed(newest))


def _from_server(home: Home, wanted: Wanted) -> list[Entry]:
    if wanted.limit > MOST_FROM_SERVER:
        raise InvalidArguments(
            f"The server remembers {MOST_FROM_SERVER} entries; --file reads all that are kept."
        )
    # Times and clients are chosen here, so that the server need not know how people write them.
    told = running.audit(home, MOST_FROM_SERVER)
    return list(wanted.of(told))[: wanted.limit]


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
