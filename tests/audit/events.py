"""Audit events for tests."""

from typing import Any

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
