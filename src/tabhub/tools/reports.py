"""Lists of things as a result: a line and an object for each, as far as maxTokens allows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from tabhub.calls.results import done
from tabhub.calls.untrusted import fenced
from tabhub.tools.budget import fitting
from tabhub.wire.mcp.messages import CallResult

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
