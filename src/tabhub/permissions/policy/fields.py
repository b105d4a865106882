"""Reads fields of a TOML file; an error names the line and says what is wrong."""

import json
import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, TypeVar

from tabhub.errors import InvalidArguments
from tabhub.permissions.policy.toml_lines import Path, lines_of
from tabhub.permissions.sites import normal_pattern
from tabhub.permissions.verdict import Level

T = TypeVar("T")
LEVEL_WORDS = tuple(level.word for level in Level)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KINDS: dict[type, str] = {bool: "true or false", str: "text", list: "a list", dict: "a table"}
_HINTS = {
    "Invalid value": "this is not a value; a word such as auto needs quotes",
    "Cannot overwrite a value": "this key was set before",
}
"""Better sentences for two messages of `tomllib`."""
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


class PolicyFault(Exception):
    """A mistake in the file: where, and what is wrong."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


def dotted(path: Path) -> str:
    """A path as TOML writes it."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{_quoted(key)}" for key in path)
    return text.removeprefix(".")


def _quoted(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key)


def typed(value: object, kind: type[T], path: Path) -> T:
    """The value, which must have this type."""
    if not isinstance(value, kind):
        raise PolicyFault(path, f"{dotted(path)} must be {_KINDS[kind]}")
    return value


def table(value: object, path: Path, keys: Iterable[str] | None = None) -> dict[str, Any]:
    """A table without other keys than these."""
    found = typed(value, dict, path)
    known = found if keys is None else list(keys)
    for key in found:
        if key not in known:
            raise PolicyFault(
                (*path, key), f"there is no key {dotted((*path, key))}{_hint(key, known)}"
            )
    return found


def _hint(key: str, known: Iterable[str]) -> str:
    near = get_close_matches(key, known, n=1)
    return f": did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"


def word(value: object, words: Iterable[str], path: Path) -> str:
    """One of a few words."""
    known = list(words)
    if not isinstance(value, str) or value not in known:
        options = f"{', '.join(known[:-1])} or {known[-1]}"
        raise PolicyFault(path, f"{dotted(path)} must be {options}, not {value!r}")
    return value


def items(value: object, path: Path, read: Callable[[object, Path], T]) -> tuple[T, ...]:
    """A list without repetitions."""
    found: dict[T, None] = {}
    for index, item in enumerate(typed(value, list, path)):
        place = (*path, index)
        entry = read(item, place)
        if entry in found:
            raise PolicyFault(place, f"{dotted(path)} has {item!r} twice")
        found[entry] = None
    return tuple(found)


def some(value: object, path: Path, read: Callable[[object, Path], T]) -> tuple[T, ...]:
    """A list that is not empty."""
    found = items(value, path, read)
    if not found:
        raise PolicyFault(path, f"{dotted(path)} is empty")
    return found


def level(value: object, path: Path) -> Level:
    return Level.of(word(value, LEVEL_WORDS, path))


def pattern(value: object, path: Path) -> str:
    """A host pattern in its canonical spelling."""
    try:
        return normal_pattern(text(value, path))
    except ValueError as error:
        raise PolicyFault(path, str(error)) from None


def text(value: object, path: Path) -> str:
    return typed(value, str, path)


def read(text: str, name: str, convert: Callable[[dict[str, Any]], T]) -> T:
    """Decode a text and convert it; InvalidArguments with `name:line: reason` if that fails."""
    try:
        return convert(tomllib.loads(text))
    except PolicyFault as fault:
        line, reason = _line_of(text, fault.path), fault.reason
    except tomllib.TOMLDecodeError as error:
        line, reason = _syntax(text, str(error))
    except (ValueError, RecursionError):
        line, reason = _first_unreadable(text), "this is too long or nested too deeply"
    raise InvalidArguments(f"{name}:{line}: {reason}.")


def _syntax(text: str, message: str) -> tuple[int, str]:
    place = _PLACE.search(message)
    if place is None or place[1] is None:
        return text.count("\n") + 1, _PLACE.sub("", message)
    reason = message[: place.start()]
    return int(place[1]), _HINTS.get(reason, reason)


def _line_of(text: str, path: Path) -> int:
    """The line of a path, or of the nearest table or list around it."""
    try:
        lines = lines_of(text)
    except RecursionError:
        return _first_unreadable(text)
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _first_unreadable(text: str) -> int:
    """The first line that the parser cannot read; it does not say, so we try fewer lines."""
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
