"""How `tabhub audit` shows entries to a person: rows of a table, or single lines."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from tabhub.audit.entry import Entry
from tabhub.audit.search import entry_outcome, entry_reason
from tabhub.audit.words import is_by_person, who_of, words_of
from tabhub.cli.output import harmless

COLUMNS = ("time", "who", "took", "outcome", "what")
LONGEST_NAME = 24
LONGEST_VALUE = 40
LONGEST_WHAT = 160
SLOW_MS = 10_000


def single_line(entry: Entry) -> str:
    """An entry in one line, below others that came before it."""
    time, who, took, outcome, what = map(harmless, row(entry))
    return f"{time:<8}  {who:<{LONGEST_NAME}}  {took:>8}  {outcome:<16}  {what}"


def row(entry: Entry) -> tuple[str, ...]:
    """The cells of an entry, one for each column."""
    what = " ".join(_what(entry))
    return (
        _local_time(str(entry.get("timestamp", ""))),
        _cut(who_of(entry), LONGEST_NAME),
        _duration(entry.get("durationMs") or 0),
        _outcome(entry),
        _cut(what, LONGEST_WHAT),
    )


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
    """How it ended, with the number of calls if the entry stands for several."""
    times = entry.get("times", 1)
    return _result(entry) if times == 1 else f"{_result(entry)} ×{times}"


def _result(entry: Entry) -> str:
    """In the words of --outcome, except for a call whose end is not known."""
    if entry.get("interrupted"):
        return "began, no end recorded"
    outcome = entry_outcome(entry)
    return f"{outcome}: {entry_reason(entry)}" if "error" in entry else outcome


def _what(entry: Entry) -> Iterator[str]:
    """What was done: what the person did in words; and the sentence of an error."""
    if is_by_person(entry):
        yield words_of(entry)
    else:
        yield from _call(entry)
    error = entry.get("error")
    if isinstance(error, dict):
        yield f"- {error.get('message')}"


def _call(entry: Entry) -> Iterator[str]:
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


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_short, value))
    if isinstance(value, dict):
        return "{" + ", ".join(map(str, value)) + "}"
    return str(value)


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
