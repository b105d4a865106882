"""An event of the audit log as the JSON object that is kept: without secrets, of bounded size."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from tabhub.audit.redaction import MARK, Redactor
from tabhub.calls.ports import AuditEvent
from tabhub.errors import TabhubError, Unavailable

ENTRY_BYTES = 16 * 1024
REFUSED_BYTES = 2 * 1024
"""The same for a call that had no effect, and for the line about a beginning: enough to see what
was tried."""
SHOWN_CHARACTERS = 2_000
SHOWN_WHEN_LARGE = 200
SHORTEST_HIDDEN = 4
"""The value of a secret argument that is shorter would be found everywhere."""

_READ_CHARACTERS = 16_000
_READ_IN_ALL = 64_000
_READ_AT_BEGINNING = 4_000
_LONGEST_WORD = 4_000
_DEEPEST = 20

Entry = dict[str, Any]


NO_END = Unavailable(
    "It began, and no end was recorded: the server was stopped or killed meanwhile. The page may "
    "have received it.",
    "page_may_have_received",
)


def entry_of(event: AuditEvent, redactor: Redactor) -> Entry:
    """The entry of an event."""
    most = REFUSED_BYTES if did_nothing(event) else ENTRY_BYTES
    return _bounded(event, redactor, most, _READ_IN_ALL, SHOWN_CHARACTERS)


def beginning_of(event: AuditEvent, redactor: Redactor) -> Entry:
    """The line about the beginning of a call; it has no outcome."""
    entry = _bounded(event, redactor, REFUSED_BYTES, _READ_AT_BEGINNING, SHOWN_WHEN_LARGE)
    del entry["success"], entry["durationMs"]
    entry["began"] = True
    return entry


def without_end(beginning: Entry) -> Entry:
    """The entry of a call that began and never ended."""
    known = {key: value for key, value in beginning.items() if key != "began"}
    return {**known, "success": False, "durationMs": 0, **_failure(NO_END), "interrupted": True}


def _bounded(event: AuditEvent, redactor: Redactor, most: int, read: int, shown: int) -> Entry:
    facts = _facts(event)
    free = (event.tool, event.agent, event.operation_id, facts["arguments"], facts.get("error"))
    if not event.secret_arguments and redactor.has_nothing_in(free):
        return facts
    redactor = redactor.knowing(_hidden_texts(event))
    # Redacted before it is cut, since half a secret would not be recognized.
    clean = {key: redactor.value(trimmed(value, read)) for key, value in facts.items()}
    entry: Entry = cut(clean, shown)
    size = len(msgspec.json.encode(entry))
    if size <= most:
        return entry
    note = {"cut": f"{size} bytes are too many to keep"}
    return {**cut(clean, SHOWN_WHEN_LARGE), "arguments": note}


def did_nothing(event: AuditEvent) -> bool:
    """Whether a call failed and certainly had no effect."""
    return event.error is not None and event.error.effect == "none"


def _facts(event: AuditEvent) -> Entry:
    facts: Entry = {
        "timestamp": iso(event.time),
        "tool": event.tool,
        "plugin": event.plugin,
        "success": event.error is None,
        "durationMs": round(event.duration_ms, 3),
        "client": event.client,
        "agent": event.agent,
        "session": event.session,
        "tabId": event.tab,
        "origin": event.origin,
        "arguments": _arguments(event) if event.secret_arguments else dict(event.arguments),
        "verdict": event.verdict,
        "rule": event.rule,
        "operationId": event.operation_id,
    }
    if event.result_bytes is not None:
        facts["resultBytes"] = event.result_bytes
    if event.call:
        facts["call"] = event.call
    return facts if event.error is None else {**facts, **_failure(event.error)}


def _failure(error: TabhubError) -> Entry:
    kind = {"category": error.row.category, "reason": error.reason}
    return {"error": {"code": error.code, "message": error.message, **kind}}


def _arguments(event: AuditEvent) -> Mapping[str, Any]:
    """The arguments, without the values of secret ones."""
    secret = event.secret_arguments
    return {name: MARK if name in secret else value for name, value in event.arguments.items()}


def _hidden_texts(event: AuditEvent) -> list[str]:
    """The values of secret arguments as text, since an error may repeat them."""
    values = [event.arguments.get(name) for name in event.secret_arguments]
    return [text for text in texts_in(values) if len(text) >= SHORTEST_HIDDEN]


def texts_in(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text and number in a value, as an error would repeat them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, Mapping | list) and depth <= _DEEPEST:
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(item, depth + 1)


def cut(value: Any, shown: int) -> Any:
    """The value with every string cut after a number of characters, and a note about the rest."""
    if isinstance(value, str):
        more = len(value) - shown
        return value if more <= 0 else f"{value[:shown]}… (cut, {more} more characters)"
    if isinstance(value, dict):
        return {cut(key, shown): cut(item, shown) for key, item in value.items()}
    return [cut(item, shown) for item in value] if isinstance(value, list) else value


def trimmed(value: Any, read: int = _READ_IN_ALL) -> Any:
    """Bound a value before it is redacted; more is kept than shown, since redaction shortens it."""
    return _Trimmer(read).trim(value, 0)


class _Trimmer:
    """Copies a value until it has read enough."""

    def __init__(self, read: int) -> None:
        self._left = read

    def trim(self, value: Any, depth: int) -> Any:
        self._left -= 10
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return self._mapping(value, depth + 1)
        return self._list(value, depth + 1) if isinstance(value, list | tuple) else value

    def _text(self, text: str) -> str:
        read = min(_READ_CHARACTERS, max(0, self._left))
        self._left -= min(len(text), read)
        kept = text if len(text) <= read else _whole_words(text[:read], len(text))
        # A lone surrogate cannot be encoded.
        return kept.encode(errors="replace").decode()

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, item in value.items():
            if self._is_enough(depth):
                return {**kept, "…": f"(cut, {len(value) - len(kept)} more)"}
            kept[self._text(str(key))] = self.trim(item, depth)
        return kept

    def _list(self, value: "list[Any] | tuple[Any, ...]", depth: int) -> list[Any]:
        kept: list[Any] = []
        for item in value:
            if self._is_enough(depth):
                return [*kept, f"… (cut, {len(value) - len(kept)} more)"]
            kept.append(self.trim(item, depth))
        return kept

    def _is_enough(self, depth: int) -> bool:
        return self._left <= 0 or depth > _DEEPEST


def _whole_words(text: str, length: int) -> str:
    """The text without its last word, which may be half a secret."""
    end = max(text.rfind(" "), text.rfind("\n"), len(text) - _LONGEST_WORD, 0)
    return f"{text[:end]} … (cut, {length - end} more characters)"


def iso(seconds: float) -> str:
    """A time as in ISO 8601, with milliseconds."""
    return _to_the_millisecond(int(seconds * 1000))


def milliseconds_of(timestamp: str) -> int | None:
    """A time in ISO 8601 as milliseconds since 1970; None for a text that is none."""
    with suppress(ValueError):
        return int(datetime.fromisoformat(timestamp).timestamp() * 1000)
    return None


@lru_cache(maxsize=8)
def _to_the_millisecond(milliseconds: int) -> str:
    return f"{_to_the_second(milliseconds // 1000)}.{milliseconds % 1000:03}Z"


@lru_cache(maxsize=8)
def _to_the_second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
