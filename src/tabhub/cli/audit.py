"""`tabhub audit`: shows the audit log, newest entry first, from the server's memory or the disk."""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from tabhub.audit.entry import Entry, iso
from tabhub.audit.export import csv_header, csv_rows
from tabhub.audit.files import Position, located_lines, read
from tabhub.audit.search import AuditFilter, shown_entry
from tabhub.cli import running
from tabhub.cli.audit_lines import COLUMNS, row, single_line
from tabhub.cli.following import FollowedFile
from tabhub.cli.output import harmless, print_json, print_json_lines, print_table, wants_json
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments

DEFAULT_LIMIT = 50
FOLLOWED_LIMIT = 10
"""How many entries come before those that are followed."""
SERVER_ENTRIES = 500
"""How many entries the server keeps in memory."""
_AGO = re.compile(r"(\d{1,9})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True)
class Printing:
    """How entries are printed; without any of these, as the output is a terminal or not."""

    json: bool = False
    ndjson: bool = False
    csv: bool = False

    def __post_init__(self) -> None:
        if self.json + self.ndjson + self.csv > 1:
            raise InvalidArguments("Choose one of --json, --ndjson and --csv.")

    def all(self, entries: list[Entry]) -> None:
        if self.csv:
            _print_csv(csv_header() + csv_rows(entries))
        elif self.ndjson:
            print_json_lines(entries)
        elif wants_json(self.json):
            print_json(entries)
        else:
            print_table(COLUMNS, map(row, entries))

    def each(self, entries: Iterable[Entry]) -> None:
        """Print entries as they come; JSON in lines, since an array would never end."""
        if self.csv:
            _print_csv(csv_header())
            for entry in entries:
                _print_csv(csv_rows([entry]))
        elif self.ndjson or wants_json(self.json):
            print_json_lines(entries)
        else:
            for entry in entries:
                print(single_line(entry), flush=True)


def _print_csv(text: str) -> None:
    print(harmless(text) if sys.stdout.isatty() else text, end="", flush=True)


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


def run(filter: AuditFilter, limit: int | None, from_file: bool, printing: Printing) -> None:
    home = Home.from_environment()
    from_where = _from_file if from_file else _from_server
    printing.all(from_where(home, filter, limit))


def follow(filter: AuditFilter, limit: int | None, printing: Printing) -> None:
    """Print the last entries, oldest first, then each new one until Ctrl-C."""
    printing.each(_followed(Home.from_environment(), filter, limit))


def _followed(home: Home, filter: AuditFilter, limit: int | None) -> Iterator[Entry]:
    followed = FollowedFile(home.audit)
    before = located_lines(home.audit, filter.earliest, Position(*followed.skip()))
    matches = filter.matcher()
    shown = (entry for _, line in before if (entry := shown_entry(line)) and matches(entry))
    most = limit or (None if filter.earliest else FOLLOWED_LIMIT)
    yield from reversed(list(islice(shown, most)))
    for line in followed.endless():
        if (entry := shown_entry(line)) and matches(entry):
            yield entry


def _from_file(home: Home, filter: AuditFilter, limit: int | None) -> list[Entry]:
    most = None if limit is None else limit + 1
    return _limited(limit, _matching_on_disk(home, filter, most), is_all=True)


def _matching_on_disk(home: Home, filter: AuditFilter, most: int | None) -> list[Entry]:
    matches = filter.matcher()
    entries = read(home.audit, filter.earliest, running.live_calls(home))
    return list(islice((one for one in entries if matches(one)), most))


def _from_server(home: Home, filter: AuditFilter, asked: int | None) -> list[Entry]:
    limit = asked or (SERVER_ENTRIES if filter.earliest else DEFAULT_LIMIT)
    if limit > SERVER_ENTRIES:
        raise InvalidArguments(
            f"The server keeps {SERVER_ENTRIES} entries in memory; --file reads all on disk."
        )
    since = {"since": filter.earliest} if filter.earliest else {}
    most = min(limit + 1, SERVER_ENTRIES)
    more = {"outcome": filter.outcome, "who": filter.who, "text": filter.text}
    given = {key: value for key, value in more.items() if value is not None}
    entries = running.audit(home, {"limit": most, **filter.members(), **given, **since})
    if len(entries) == SERVER_ENTRIES:
        _note(f"The server keeps only its own last {SERVER_ENTRIES}; --file reads all on disk.")
    if len(entries) < limit:
        entries = _with_older(home, filter, limit, entries)
    return _limited(limit, entries)


def _with_older(home: Home, filter: AuditFilter, limit: int, known: list[Entry]) -> list[Entry]:
    """What the disk has, if that is more: the server forgets its entries when it restarts."""
    try:
        entries = _matching_on_disk(home, filter, limit + 1)
    except OSError:
        return known
    return entries if len(entries) > len(known) else known


def _limited(limit: int | None, entries: list[Entry], is_all: bool = False) -> list[Entry]:
    """At most so many; `is_all`: of all on disk."""
    if limit is None or len(entries) <= limit:
        return entries
    whole = "." if is_all else ", --file reads all on disk."
    _note(f"There are more than {limit}; --limit N shows more{whole}")
    return entries[:limit]


def _note(text: str) -> None:
    print(f"tabhub: {text}", file=sys.stderr)
