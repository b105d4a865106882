"""One `[[conditions]]` table of the policy file."""

import re
from collections.abc import Callable
from typing import Any

from tabhub.permissions.levels import Level
from tabhub.permissions.policy.conditions import Condition, Hosts, Matches, OneOf, Test
from tabhub.permissions.policy.fields import Fault, dotted, level, pattern, some, table, text, typed
from tabhub.permissions.policy.toml_lines import Path

CONDITION_KEYS = ("tools", "argument", "hosts", "one_of", "matches", "otherwise", "optional")
_REQUIRED = ("tools", "argument", "otherwise")


def read_condition(value: object, path: Path) -> Condition:
    """A condition with exactly one test."""
    found = table(value, path, CONDITION_KEYS)
    for key in _REQUIRED:
        if key not in found:
            raise Fault(path, f"{dotted(path)} has no {key}")
    argument = text(found["argument"], (*path, "argument"))
    kind, test = _test(found, path)
    otherwise = _otherwise(found["otherwise"], (*path, "otherwise"))
    return Condition(
        tools=some(found["tools"], (*path, "tools"), text),
        argument=argument,
        test=test,
        otherwise=otherwise,
        optional=typed(found.get("optional", False), bool, (*path, "optional")),
        text=f"{dotted(path)}.{kind} of {argument}, otherwise = {otherwise.word}",
    )


def _otherwise(value: object, path: Path) -> Level:
    most = level(value, path)
    if most is Level.AUTO:
        raise Fault(path, f"{dotted(path)} must be off or ask, not 'auto'")
    return most


def _test(found: dict[str, Any], path: Path) -> tuple[str, Test]:
    named = [kind for kind in _TESTS if kind in found]
    if len(named) != 1:
        where = (*path, named[1]) if named else path
        raise Fault(where, f"{dotted(path)} needs exactly one of {', '.join(_TESTS)}")
    kind = named[0]
    return kind, _TESTS[kind](found[kind], (*path, kind))


def _hosts(value: object, path: Path) -> Test:
    return Hosts(some(value, path, pattern))


def _one_of(value: object, path: Path) -> Test:
    return OneOf(value for _, value in some(value, path, _scalar))


def _scalar(value: object, path: Path) -> tuple[type, str | int | float]:
    if not isinstance(value, str | int | float):
        raise Fault(path, f"{dotted(path)} must be text, a number, true or false")
    return type(value), value


def _matches(value: object, path: Path) -> Test:
    try:
        return Matches(text(value, path))
    except (re.error, OverflowError, RecursionError) as error:
        raise Fault(path, f"{dotted(path)} is no regular expression: {error}") from None


_TESTS: dict[str, Callable[[object, Path], Test]] = {
    "hosts": _hosts,
    "one_of": _one_of,
    "matches": _matches,
}
