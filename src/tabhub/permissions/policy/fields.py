"""Reading decoded data with a reason, and the place, for all that is not as it should be."""

import json
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, TypeVar

from tabhub.permissions.levels import Level
from tabhub.permissions.patterns import normal_pattern
from tabhub.permissions.policy.toml_lines import Path

T = TypeVar("T")
LEVEL_WORDS = tuple(level.word for level in Level)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KINDS: dict[type, str] = {bool: "true or false", str: "text", list: "a list", dict: "a table"}


class Fault(Exception):
    """Something that cannot stay as it is written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason


def dotted(path: Path) -> str:
    """A path as TOML writes it."""
    shown = "".join(f"[{key}]" if isinstance(key, int) else f".{_quoted(key)}" for key in path)
    return shown.removeprefix(".")


def _quoted(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key)


def typed(value: object, kind: type[T], path: Path) -> T:
    """The value, if it is of the kind."""
    if not isinstance(value, kind):
        raise Fault(path, f"{dotted(path)} must be {_KINDS[kind]}")
    return value


def table(value: object, path: Path, keys: Iterable[str] | None = None) -> dict[str, Any]:
    """A table that has no keys but these."""
    found = typed(value, dict, path)
    known = found if keys is None else list(keys)
    for key in found:
        if key not in known:
            raise Fault((*path, key), f"there is no key {dotted((*path, key))}{_hint(key, known)}")
    return found


def _hint(key: str, known: Iterable[str]) -> str:
    near = get_close_matches(key, known, n=1)
    return f": did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"


def word(value: object, words: Iterable[str], path: Path) -> str:
    """One of a few words."""
    known = list(words)
    if not isinstance(value, str) or value not in known:
        shown = f"{', '.join(known[:-1])} or {known[-1]}"
        raise Fault(path, f"{dotted(path)} must be {shown}, not {value!r}")
    return value


def items(value: object, path: Path, read: Callable[[object, Path], T]) -> tuple[T, ...]:
    """A list without repetitions."""
    found: dict[T, None] = {}
    for index, item in enumerate(typed(value, list, path)):
        place = (*path, index)
        one = read(item, place)
        if one in found:
            raise Fault(place, f"{dotted(path)} has {item!r} twice")
        found[one] = None
    return tuple(found)


def some(value: object, path: Path, read: Callable[[object, Path], T]) -> tuple[T, ...]:
    """A list with something in it."""
    found = items(value, path, read)
    if not found:
        raise Fault(path, f"{dotted(path)} is empty")
    return found


def level(value: object, path: Path) -> Level:
    return Level.of(word(value, LEVEL_WORDS, path))


def pattern(value: object, path: Path) -> str:
    """A pattern of hosts, in its one spelling."""
    try:
        return normal_pattern(text(value, path))
    except ValueError as error:
        raise Fault(path, str(error)) from None


def text(value: object, path: Path) -> str:
    return typed(value, str, path)
