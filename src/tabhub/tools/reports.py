"""Lists of things as a result: a line and an object for each, as far as maxTokens allows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tabhub.calls.results import done, fenced
from tabhub.wire.mcp.messages import CallResult

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


Json = dict[str, Any]


def listed_as_json(
    given: Mapping[str, Any], lines: Sequence[str], shape: Callable[[int], Json]
) -> CallResult:
    """For tools whose text others read as JSON; lines tell how many things there is room for."""
    kept = len(fitting(lines, given))
    left_out = {"leftOut": len(lines) - kept} if kept < len(lines) else {}
    data = {**shape(kept), **left_out}
    return done(msgspec.json.encode(data).decode(), data)


def listed(
    given: Mapping[str, Any],
    head: str,
    lines: Sequence[str],
    shape: Callable[[int], Json],
    *,
    from_page: bool = False,
) -> CallResult:
    """`shape` makes the data of the first so many things; what pages wrote is marked."""
    kept = fitting(lines, given)
    shown = [fenced("\n".join(kept))] if from_page and kept else kept
    left_out = len(lines) - len(kept)
    if not left_out:
        return done("\n".join([head, *shown]), shape(len(kept)))
    note = f"({left_out} more left out: give a larger maxTokens.)"
    return done("\n".join([head, *shown, note]), {**shape(len(kept)), "leftOut": left_out})
