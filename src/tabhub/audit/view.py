"""The audit log in the side panel: its entries in pages that fit the link, and as a file to save.

It is read in another thread, so that calls do not wait for it.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from tabhub.audit.entry import Entry, milliseconds_of
from tabhub.audit.export import csv_header, csv_rows
from tabhub.audit.log import AuditLog
from tabhub.audit.search import (
    AuditFilter,
    FoundEntry,
    Page,
    cursor_of,
    entry_outcome,
    entry_reason,
    position_of,
    search,
)
from tabhub.audit.words import is_denied, who_of, words_of
from tabhub.hub.texts import one_line
from tabhub.wire.panel_audit import (
    AuditExport,
    AuditList,
    AuditRow,
    AuditRows,
    AuditSought,
    AuditText,
)

PAGE_BYTES = 256 * 1024
"""When a page has so many bytes of entries, it ends; one entry more may be in it."""
MOST_LINES = 5_000
LONGEST_NAME = 128
LONGEST_MESSAGE = 1_000


class AuditView:
    """Answers the panel's requests about the audit log."""

    def __init__(self, log: AuditLog, title_of: Callable[[str], str]) -> None:
        self._log = log
        self._title_of = title_of

    @property
    def handlers(self) -> dict[str, Callable[[Any], Any]]:
        return {"audit.list": self.list, "audit.export": self.export}

    async def list(self, params: AuditList) -> AuditRows:
        found, end = await self._search(params, params.limit)
        return AuditRows(rows=[self._row(one) for one in found], next=cursor_of(end))

    async def export(self, params: AuditExport) -> AuditText:
        found, end = await self._search(params, MOST_LINES)
        entries = [one.entry for one in found]
        if params.format == "csv":
            header = csv_header() if params.before is None else ""
            return AuditText(text=header + csv_rows(entries), next=cursor_of(end))
        return AuditText(text="".join(map(_json_line, entries)), next=cursor_of(end))

    async def _search(self, params: AuditSought, limit: int) -> Page:
        # What is in memory is taken here, where calls add to it.
        lines = self._log.located(position_of(params.before))
        sought = _filter(params)
        return await asyncio.to_thread(search, lines, sought, limit, PAGE_BYTES, self._title_of)

    def _row(self, found: FoundEntry) -> AuditRow:
        entry = found.entry
        tool = one_line(_text(entry, "tool"), LONGEST_NAME)
        title = one_line(self._title_of(tool)) or tool
        error = entry.get("error")
        message = str(error.get("message", "")) if isinstance(error, dict) else None
        return AuditRow(
            id=cursor_of(found.position) or "",
            time=milliseconds_of(_text(entry, "timestamp")) or 0,
            who=who_of(entry),
            client=one_line(_text(entry, "client")),
            tool=tool,
            title=title,
            words=words_of(entry, title),
            tab=_tab(entry),
            site=one_line(_text(entry, "origin")),
            outcome=entry_outcome(entry),
            reason=entry_reason(entry),
            denied=is_denied(entry),
            message=None if message is None else one_line(message, LONGEST_MESSAGE),
            duration_ms=_number(entry, "durationMs"),
            bytes=entry.get("resultBytes"),
            times=int(_number(entry, "times")) or 1,
            arguments=_arguments(entry),
            rule=one_line(_text(entry, "rule")),
        )


def _filter(params: AuditSought) -> AuditFilter:
    return AuditFilter(
        client=params.client,
        tool=params.tool,
        outcome=params.outcome,
        who=params.who,
        text=params.text,
    )


def _json_line(entry: Entry) -> str:
    return f"{msgspec.json.encode(entry).decode()}\n"


def _text(entry: Entry, key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def _number(entry: Entry, key: str) -> float:
    value = entry.get(key)
    return value if isinstance(value, int | float) else 0


def _tab(entry: Entry) -> int | str | None:
    tab = entry.get("tabId")
    return one_line(tab) if isinstance(tab, str) else tab if isinstance(tab, int) else None


def _arguments(entry: Entry) -> dict[str, Any]:
    arguments = entry.get("arguments")
    return arguments if isinstance(arguments, dict) else {}
