"""One event as the JSON object that is kept: without secrets, and of a bounded size."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from tabhub.audit.redaction import MARK, Redactor
from tabhub.calls.ports import Event
from tabhub.errors import TabhubError

_READ_CHARACTERS = 16_000
_LONGEST_WORD = 4_000
_READ_IN_ALL = 64_000
_DEEPEST = 20


def trimmed(value: Any) -> Any:
    """At most so much of a value as could be shown; redaction makes room, so that is more."""
    return _Reader().read(value, 0)


def cut(value: Any, shown: int) -> Any:
    """The value with every string cut after so many characters, saying so."""
    if isinstance(value, str):
        more = len(value) - shown
        return value if more <= 0 else f"{value[:shown]}… (cut, {more} more characters)"
    if isinstance(value, dict):
        return {cut(key, shown): cut(item, shown) for key, item in value.items()}
    return [cut(item, shown) for item in value] if isinstance(value, list) else value


def texts_in(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text and number in a value, as a sentence about it would repeat them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, Mapping | list) and depth <= _DEEPEST:
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(item, depth + 1)


class _Reader:
    """Walks a value until it has seen enough."""

    def __init__(self) -> None:
        self._left = _READ_IN_ALL

    def read(self, value: Any, depth: int) -> Any:
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
        # Half a character of UTF-16 cannot be written.
        return kept.encode(errors="replace").decode()

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, item in value.items():
            if self._is_enough(depth):
                return {**kept, "…": f"(cut, {len(value) - len(kept)} more)"}
            kept[self._text(str(key))] = self.read(item, depth)
        return kept

    def _list(self, value: "list[Any] | tuple[Any, ...]", depth: int) -> list[Any]:
        kept: list[Any] = []
        for item in value:
            if self._is_enough(depth):
                return [*kept, f"… (cut, {len(value) - len(kept)} more)"]
            kept.append(self.read(item, depth))
        return kept

    def _is_enough(self, depth: int) -> bool:
        return self._left <= 0 or depth > _DEEPEST


def _whole_words(text: str, length: int) -> str:
    """Without the last word, which may be half a secret."""
    end = max(text.rfind(" "), text.rfind("\n"), len(text) - _LONGEST_WORD, 0)
    return f"{text[:end]} … (cut, {length - end} more characters)"


SECONDS = 60.0
WRITTEN = 300
"""How many lines of a minute and client are written."""


def did_nothing(event: Event) -> bool:
    """Whether an attempt failed and certainly had no effect."""
    return event.error is not None and event.error.effect == "none"


class Fold(NamedTuple):
    """Several events told as one: the last of them, and how many they were."""

    event: Event
    times: int


class _Minute:
    """What one client has tried in vain."""

    def __init__(self, began: float) -> None:
        self.ends = began + SECONDS
        self.written = 0
        self.folds: dict[str, Fold] = {}

    def add(self, event: Event) -> bool:
        """Whether this one is to be written by itself."""
        if self.written < WRITTEN:
            self.written += 1
            return True
        reason = event.error.reason if event.error is not None else ""
        before = self.folds.get(reason)
        self.folds[reason] = Fold(event, 1 if before is None else before.times + 1)
        return False

    def take(self) -> list[Fold]:
        folds, self.folds = list(self.folds.values()), {}
        return folds


class Folding:
    """The minutes of all clients. Knows no time but that of the events."""

    def __init__(self) -> None:
        self._minutes: dict[str, _Minute] = {}

    def admits(self, event: Event) -> bool:
        """Whether an event is to be written now; otherwise it is counted."""
        if not did_nothing(event):
            return True
        minute = self._minutes.get(event.client)
        if minute is None:
            minute = self._minutes[event.client] = _Minute(event.time)
        return minute.add(event)

    def over(self, now: float) -> list[Fold]:
        """What was counted in minutes that are over."""
        over = [client for client, minute in self._minutes.items() if minute.ends <= now]
        return [fold for client in over for fold in self._minutes.pop(client).take()]

    def take(self) -> list[Fold]:
        """What was counted until now; the minutes go on."""
        return [fold for minute in self._minutes.values() for fold in minute.take()]


ENTRY_BYTES = 16 * 1024
IDLE_BYTES = 2 * 1024
"""Of what was refused before anything was done: enough to see what was tried."""
SHOWN_CHARACTERS = 2_000
SHOWN_WHEN_LARGE = 200
SHORTEST_HIDDEN = 4
"""The value of a secret argument shorter than this would be found everywhere."""

Entry = dict[str, Any]


def entry_of(event: Event, redactor: Redactor) -> Entry:
    """What is kept of an event."""
    told = {**_facts(event), **_failure(event.error)}
    free = (event.tool, event.agent, event.operation_id, told["arguments"], told.get("error"))
    if not event.secret_arguments and redactor.has_nothing_in(free):
        return told
    redactor = redactor.knowing(_hidden_texts(event))
    # Redacted before it is cut: half a secret would not be known as one.
    clean = {key: redactor.value(trimmed(value)) for key, value in told.items()}
    entry: Entry = cut(clean, SHOWN_CHARACTERS)
    size = len(msgspec.json.encode(entry))
    if size <= (IDLE_BYTES if did_nothing(event) else ENTRY_BYTES):
        return entry
    told_instead = {"cut": f"{size} bytes are too many to keep"}
    return {**cut(clean, SHOWN_WHEN_LARGE), "arguments": told_instead}


def _facts(event: Event) -> Entry:
    return {
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
        "arguments": _arguments(event),
        "verdict": event.verdict,
        "rule": event.rule,
        "operationId": event.operation_id,
    }


def _failure(error: TabhubError | None) -> Entry:
    if error is None:
        return {}
    kind = {"category": error.row.category, "reason": error.reason}
    return {"error": {"code": error.code, "message": error.message, **kind}}


def _arguments(event: Event) -> Mapping[str, Any]:
    secret = event.secret_arguments
    return {name: MARK if name in secret else value for name, value in event.arguments.items()}


def _hidden_texts(event: Event) -> list[str]:
    """An error may repeat what must not be kept, of whichever type it was."""
    values = [event.arguments.get(name) for name in event.secret_arguments]
    return [text for text in texts_in(values) if len(text) >= SHORTEST_HIDDEN]


def iso(seconds: float) -> str:
    return f"{_to_the_second(int(seconds))}.{int(seconds * 1000) % 1000:03}Z"


@lru_cache(maxsize=8)
def _to_the_second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
