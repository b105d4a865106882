"""Entries of the audit as the rows of a table: when, who, how long, what came of it, and what."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

COLUMNS = ("time", "who", "took", "outcome", "what")
LONGEST_NAME = 24
LONGEST_VALUE = 40
LONGEST_WHAT = 160
SLOW_MS = 10_000

Entry = Mapping[str, Any]


def row(entry: Entry) -> tuple[str, ...]:
    what = " ".join(_what(entry))
    return (
        _here(str(entry.get("timestamp", ""))),
        _cut(who(str(entry.get("client", "")), entry.get("agent")), LONGEST_NAME),
        _span(entry.get("durationMs") or 0),
        _outcome(entry),
        _cut(what, LONGEST_WHAT),
    )


def who(client: str, agent: str | None) -> str:
    """A client, and what the agent that has its token calls itself."""
    return f"{client} ({agent})" if agent and agent != client else client


def _here(time: str) -> str:
    """By the clock on the wall; the day only if it is another."""
    try:
        then = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return time
    is_today = then.date() == datetime.now().astimezone().date()
    return f"{then:%H:%M:%S}" if is_today else f"{then:%Y-%m-%d %H:%M}"


def _span(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < SLOW_MS else f"{ms / 1000:.1f} s"


def _outcome(entry: Entry) -> str:
    """With how many there were, where one entry stands for all."""
    times = entry.get("times", 1)
    return _result(entry) if times == 1 else f"{_result(entry)} ×{times}"


def _result(entry: Entry) -> str:
    error = entry.get("error")
    if isinstance(error, dict):
        return f"failed: {error.get('reason')}"
    return "ok" if entry.get("success", True) else "failed"


def _what(entry: Entry) -> Iterator[str]:
    """The tool, its tab, and what it was given, in short; where it was, if that does not say it."""
    yield str(entry.get("tool", ""))
    if entry.get("tabId") is not None:
        yield f"tab {entry['tabId']}"
    arguments = entry.get("arguments")
    given = arguments if isinstance(arguments, dict) else {}
    if entry.get("origin") and "url" not in given:
        yield f"on {entry['origin']}"
    for name, value in given.items():
        if name != "tabId":
            yield f"{name}={_cut(_short(value), LONGEST_VALUE)}"
    error = entry.get("error")
    if isinstance(error, dict):
        yield f"- {error.get('message')}"


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_short, value))
    if isinstance(value, dict):
        return "{" + ", ".join(map(str, value)) + "}"
    return str(value)


def _cut(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
