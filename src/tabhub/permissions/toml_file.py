"""A TOML text read by somebody's rules, with the line of whatever breaks them."""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable
from typing import Any, TypeVar

from tabhub.errors import InvalidArguments
from tabhub.permissions.policy.fields import Fault
from tabhub.permissions.policy.toml_lines import Path, lines_of

T = TypeVar("T")
_HINTS = {
    "Invalid value": "this is no value; a word such as auto needs quotes",
    "Cannot overwrite a value": "this key was set before",
}
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read(text: str, name: str, rules: Callable[[dict[str, Any]], T]) -> T:
    """What the rules make of it; InvalidArguments with `name:line: reason` if they cannot."""
    try:
        return rules(tomllib.loads(text))
    except Fault as fault:
        line, reason = _line_of(text, fault.path), fault.reason
    except tomllib.TOMLDecodeError as error:
        line, reason = _syntax(text, str(error))
    except (ValueError, RecursionError):
        line, reason = _first_unreadable(text), "this is too long or nested too deep"
    raise InvalidArguments(f"{name}:{line}: {reason}.")


def _syntax(text: str, told: str) -> tuple[int, str]:
    place = _PLACE.search(told)
    if place is None or place[1] is None:
        return text.count("\n") + 1, _PLACE.sub("", told)
    return int(place[1]), _HINTS.get(told[: place.start()], told[: place.start()])


def _line_of(text: str, path: Path) -> int:
    """The line of the path, or of the nearest thing around it."""
    try:
        lines = lines_of(text)
    except RecursionError:
        return _first_unreadable(text)
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _first_unreadable(text: str) -> int:
    """The parser does not say where it gave up: look how many lines it takes."""
    lines = text.split("\n")
    return 1 + bisect_left(
        range(1, len(lines)), True, key=lambda number: _gives_up("\n".join(lines[:number]))
    )


def _gives_up(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    except (ValueError, RecursionError):
        return True
    return False
