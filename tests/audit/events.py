"""Audit events for tests."""

from pathlib import Path
from typing import Any

from tabhub.audit.entry import Entry
from tabhub.audit.files import read
from tabhub.calls.ports import AuditEvent

_PLAIN: dict[str, Any] = {
    "time": 1_760_000_000.1234,
    "client": "agent",
    "session": "s1",
    "tool": "browser_click_element",
    "plugin": "browser",
    "tab": 5,
    "origin": "https://example.com",
    "arguments": {"ref": "e1"},
    "secret_arguments": frozenset(),
    "verdict": "allowed",
    "rule": "default",
    "error": None,
    "duration_ms": 12.34567,
}


def event(**changes: Any) -> AuditEvent:
    """A successful call, with the changes of the test."""
    return AuditEvent(**{**_PLAIN, **changes})


def written(path: Path) -> list[Entry]:
    """The entries of the files, oldest first."""
    return [*read(path)][::-1]
