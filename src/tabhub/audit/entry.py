"""One event as the JSON object that is kept: without secrets, and of a bounded size."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from tabhub.audit.folding import did_nothing
from tabhub.audit.redaction import MARK, Redactor
from tabhub.audit.trimming import cut, texts_in, trimmed
from tabhub.calls.ports import Event
from tabhub.errors import TabhubError

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
