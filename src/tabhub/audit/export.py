"""Entries of the audit log as CSV, for spreadsheets. NDJSON is the entries as they are kept."""

import csv
import re
from collections.abc import Iterable
from io import StringIO
from typing import Any

import msgspec

from tabhub.audit.entry import Entry
from tabhub.audit.search import entry_outcome, entry_reason
from tabhub.audit.words import who_of, words_of

COLUMNS = (
    *("time", "who", "client", "tool", "words", "tab", "site", "outcome", "reason"),
    *("durationMs", "bytes", "times", "rule", "message", "arguments"),
)
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A spreadsheet would calculate what begins so, and a page may have written it."""
_INNER = re.compile(r'(?<=[;\t\r\n])(?="*[=+\-@])')
"""Where a formula would begin for a spreadsheet that separates cells by semicolons or tabs: what it
takes for a cell may begin in the middle of a quoted one."""


def csv_header() -> str:
    return _written([COLUMNS])


def csv_rows(entries: Iterable[Entry]) -> str:
    return _written(map(_cells, entries))


def _written(rows: Iterable[Iterable[Any]]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue()


def _cells(entry: Entry) -> list[Any]:
    error = entry.get("error")
    cells = (
        entry.get("timestamp"),
        who_of(entry),
        entry.get("client"),
        entry.get("tool"),
        words_of(entry),
        entry.get("tabId"),
        entry.get("origin"),
        entry_outcome(entry),
        entry_reason(entry),
        entry.get("durationMs"),
        entry.get("resultBytes"),
        entry.get("times", 1),
        entry.get("rule"),
        error.get("message") if isinstance(error, dict) else None,
        msgspec.json.encode(entry.get("arguments") or {}).decode(),
    )
    return [_plain(cell) for cell in cells]


def _plain(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    text = _INNER.sub("'", cell)
    return f"'{text}" if text.startswith(_FORMULAS) else text
