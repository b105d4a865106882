"""`tabhub audit`: what was done, the newest first."""

import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from tabhub.audit.entry import iso
from tabhub.audit.log import read
from tabhub.cli import running
from tabhub.cli.audit_rows import COLUMNS, row
from tabhub.cli.moments import moment
from tabhub.cli.output import print_json, print_table, wants_json
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments

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
