"""Finds entries of the audit log, newest first, in pages: each takes bounded time and space."""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, get_args

import msgspec
from msgspec import Struct

from tabhub.audit.entry import Entry, texts_in
from tabhub.audit.files import Located, Position, head_of
from tabhub.audit.words import BY_PERSON, is_by_person, words_of
from tabhub.calls.ports import outcome_of
from tabhub.errors import InvalidArguments
from tabhub.hub.sessions import PERSON
from tabhub.wire.link import CallOutcome
from tabhub.wire.tool_names import listed_name

Who = Literal["you", "agents"]
TitleOf = Callable[[str], str]
"""The title that a person is shown for the name of a tool; empty if it has none."""
SCAN_SECONDS = 0.5
"""How long one page may search; then it ends, with what it has, where the next one goes on."""
_CURSOR = re.compile(r"([0-9a-f]{1,16})-([0-9a-f]{1,16})")
_CHECK_EVERY = 500
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f]')
"""Characters that look different in JSON."""
_BY_PERSON = (*(f'"{word}"'.encode() for word in BY_PERSON), f'"{PERSON}'.encode())
"""Entries whose words are not those of their JSON."""
_TOOL = re.compile(rb'"tool": ?"([^"\\]*)"')


def _untitled(tool: str) -> str:
    return ""


class AuditFilter(Struct, frozen=True, kw_only=True):
    """Which entries to show; None accepts every value."""

    plugin: str | None = None
    tool: str | None = None
    client: str | None = None
    success: bool | None = None
    outcome: CallOutcome | None = None
    who: Who | None = None
    text: str | None = None
    """Words that the entry has somewhere, all of them, whatever their case."""
    earliest: str = ""
    """The earliest timestamp, in the form that entries have."""

    def members(self) -> dict[str, Any]:
        """The members that an entry must have."""
        named = {
            "plugin": self.plugin,
            "tool": None if self.tool is None else listed_name(self.tool),
            "client": self.client,
            "success": self.success,
        }
        return {key: value for key, value in named.items() if value is not None}

    def matcher(self, title_of: TitleOf = _untitled) -> Callable[[Entry], bool]:
        """A function that says whether an entry matches, as it is shown with the tool's title."""
        members, words = self.members(), (self.text or "").lower().split()

        def matches(entry: Entry) -> bool:
            return (
                str(entry.get("timestamp", "")) >= self.earliest
                and all(entry.get(key) == value for key, value in members.items())
                and self.outcome in (None, entry_outcome(entry))
                and self.who in (None, "you" if is_by_person(entry) else "agents")
                and (not words or _has(entry, words, title_of))
            )

        return matches

    def glance(self, title_of: TitleOf = _untitled) -> Callable[[bytes], bool]:
        """A quick function over the JSON of entries; False only if one certainly does not match."""
        if not self.text or _ESCAPED.search(self.text):
            return lambda line: True
        words = self.text.lower().split()

        def may_match(line: bytes) -> bool:
            text = line.decode(errors="replace").lower()
            left = [word for word in words if word not in text]
            return not left or any(mark in line for mark in _BY_PERSON) or is_titled(line, left)

        def is_titled(line: bytes, left: list[str]) -> bool:
            # An argument may have this name too: then there are more titles, and none is missed.
            tools = (tool.decode(errors="replace") for tool in _TOOL.findall(line))
            titles = " ".join(map(title_of, tools)).lower()
            return all(word in titles for word in left)

        return may_match


def _has(entry: Entry, words: list[str], title_of: TitleOf) -> bool:
    title = title_of(str(entry.get("tool", "")))
    text = "\n".join((words_of(entry, title), *texts_in(entry))).lower()
    return all(word in text for word in words)


def entry_outcome(entry: Entry) -> CallOutcome:
    return outcome_of(str(entry.get("verdict", "")), entry_reason(entry))


def entry_reason(entry: Entry) -> str | None:
    """The reason word of an entry's error; None if it succeeded."""
    error = entry.get("error")
    if isinstance(error, dict):
        return str(error.get("reason"))
    return None if entry.get("success", True) else "internal"


def outcome_named(word: str | None) -> CallOutcome | None:
    """An outcome that a person has typed."""
    for outcome in get_args(CallOutcome):
        if outcome == word:
            return outcome  # type: ignore[no-any-return]
    if word is None:
        return None
    raise InvalidArguments(f"{word!r} is not an outcome: {', '.join(get_args(CallOutcome))}.")


class FoundEntry(NamedTuple):
    """An entry and where it is."""

    position: Position
    entry: Entry
    size: int


class Page(NamedTuple):
    """The entries that were found, newest first, and where the search goes on."""

    found: list[FoundEntry]
    next: Position | None


def search(
    lines: Iterator[Located],
    filter: AuditFilter,
    limit: int,
    most_bytes: int,
    title_of: TitleOf = _untitled,
) -> Page:
    """The next entries that match; at least one, if there is one in time."""
    end, size, number = time.monotonic() + SCAN_SECONDS, 0, 0
    found: list[FoundEntry] = []
    may_match, matches = filter.glance(title_of), filter.matcher(title_of)
    for position, line in lines:
        number += 1
        if may_match(line) and (entry := shown_entry(line)) and matches(entry):
            found.append(FoundEntry(position, entry, len(line)))
            size += len(line)
        if len(found) >= limit or size >= most_bytes:
            return Page(found, position)
        if not number % _CHECK_EVERY and time.monotonic() > end:
            return Page(found, position)
    return Page(found, None)


def shown_entry(line: bytes) -> Entry | None:
    """The entry of a line; None for a damaged one, and for one that only says that a call began.

    The server writes an entry for those that never end when it starts again.
    """
    head = head_of(line)
    if head is None or head.began or head.withdrawn:
        return None
    entry: Entry = msgspec.json.decode(line)
    return entry


def cursor_of(position: Position | None) -> str | None:
    return None if position is None else f"{position.file:x}-{position.offset:x}"


def position_of(cursor: str | None) -> Position | None:
    """The position that a cursor stands for."""
    if cursor is None:
        return None
    parts = _CURSOR.fullmatch(cursor)
    if parts is None:
        raise InvalidArguments(f"{cursor[:40]!r} is not a cursor of the audit log.")
    return Position(int(parts[1], 16), int(parts[2], 16))
