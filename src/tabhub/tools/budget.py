"""How much a reading tool may say."""

from collections.abc import Iterable, Mapping
from typing import Any

CHARS_PER_TOKEN = 4
MAX_TOKENS: dict[str, Any] = {"type": "integer", "minimum": 50}


def chars(given: Mapping[str, Any], named: str, usual: int) -> int:
    """How many characters, by a parameter of the tool's own and by maxTokens."""
    limit: int = given.get(named, usual)
    return min(limit, in_tokens(given) or limit)


def in_tokens(given: Mapping[str, Any]) -> int | None:
    """How many characters maxTokens allows, if it was given."""
    tokens = given.get("maxTokens")
    return None if tokens is None else tokens * CHARS_PER_TOKEN


def fitting(lines: Iterable[str], given: Mapping[str, Any]) -> list[str]:
    """The first lines, as many as maxTokens allows; at least one."""
    room, kept = in_tokens(given), list[str]()
    for line in lines:
        room = None if room is None else room - len(line) - 1
        if kept and room is not None and room < 0:
            break
        kept.append(line)
    return kept
