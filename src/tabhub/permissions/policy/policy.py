"""The policy file: rules that apply with and without a person present; see `docs/policy.md`."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol, cast

import msgspec

from tabhub.config.settings import TOOLSETS
from tabhub.permissions.policy.fields import (
    PolicyFault,
    dotted,
    items,
    level,
    pattern,
    read,
    some,
    table,
    text,
    typed,
    word,
)
from tabhub.permissions.policy.toml_lines import Path
from tabhub.permissions.sites import HostPatterns, site_of_typed
from tabhub.permissions.verdict import Level

Unattended = Literal["deny", "allow"]
Levels = Mapping[str, Level]

KEYS = (
    *("unattended", "elicitation"),
    *("defaults", "tools", "plugins", "domains", "toolsets", "sites", "conditions"),
)
DEFAULT_KEYS = ("managed", "personal", "reading", "minor")
SITE_KEYS = ("deny", "allow")
CONDITION_KEYS = ("tools", "argument", "hosts", "one_of", "matches", "otherwise", "optional")
_REQUIRED = ("tools", "argument", "otherwise")
HISTORY = ("back", "forward", "reload")
"""What navigation accepts in place of a URL; the site it leads to is decided about later."""
LONGEST = 2000
"""Characters of a value that a regular expression is tried on."""


class Test(Protocol):
    """Says whether the value of an argument meets a condition."""

    def fits(self, value: object) -> bool: ...


class Hosts:
    """A URL on one of these hosts, or a step in the history."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = HostPatterns(dict.fromkeys(patterns, True))

    def fits(self, value: object) -> bool:
        if not isinstance(value, str):
            return False
        return value in HISTORY or self._patterns.find(site_of_typed(value)) is not None


class OneOf:
    """One of these values; `true` is not 1."""

    def __init__(self, values: Iterable[str | int | float]) -> None:
        self._values = frozenset((type(value), value) for value in values)

    def fits(self, value: object) -> bool:
        return isinstance(value, str | int | float) and (type(value), value) in self._values


class Matches:
    """Text that a regular expression matches as a whole."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def fits(self, value: object) -> bool:
        if not isinstance(value, str) or len(value) > LONGEST:
            return False
        return self._pattern.fullmatch(value) is not None


class Condition(msgspec.Struct, frozen=True):
    """Limits the level of some tools unless an argument passes a test."""

    tools: tuple[str, ...]
    argument: str
    test: Test
    otherwise: Level
    optional: bool
    text: str
    """Its place in the file, and its test, for messages."""

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        if self.argument not in arguments:
            return self.optional
        return self.test.fits(arguments[self.argument])


def read_condition(value: object, path: Path) -> Condition:
    """Read a condition, which must have exactly one test."""
    found = table(value, path, CONDITION_KEYS)
    for key in _REQUIRED:
        if key not in found:
            raise PolicyFault(path, f"{dotted(path)} has no {key}")
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
    limit = level(value, path)
    if limit is Level.AUTO:
        raise PolicyFault(path, f"{dotted(path)} must be off or ask, not 'auto'")
    return limit


def _test(found: dict[str, Any], path: Path) -> tuple[str, Test]:
    kinds = [kind for kind in _TESTS if kind in found]
    if len(kinds) != 1:
        where = (*path, kinds[1]) if kinds else path
        raise PolicyFault(where, f"{dotted(path)} needs exactly one of {', '.join(_TESTS)}")
    kind = kinds[0]
    return kind, _TESTS[kind](found[kind], (*path, kind))


def _hosts(value: object, path: Path) -> Test:
    return Hosts(some(value, path, pattern))


def _one_of(value: object, path: Path) -> Test:
    return OneOf(value for _, value in some(value, path, _scalar))


def _scalar(value: object, path: Path) -> tuple[type, str | int | float]:
    if not isinstance(value, str | int | float):
        raise PolicyFault(path, f"{dotted(path)} must be text, a number, true or false")
    return type(value), value


def _matches(value: object, path: Path) -> Test:
    try:
        return Matches(text(value, path))
    except (re.error, OverflowError, RecursionError) as error:
        raise PolicyFault(path, f"{dotted(path)} is not a regular expression: {error}") from None


_TESTS: dict[str, Callable[[object, Path], Test]] = {
    "hosts": _hosts,
    "one_of": _one_of,
    "matches": _matches,
}


class Policy(msgspec.Struct, frozen=True):
    """The content of a policy file; host patterns in their canonical spelling."""

    name: str
    unattended: Unattended | None
    elicitation: bool
    defaults: Levels
    tools: Levels
    plugins: Levels
    domains: Levels
    toolsets: Levels
    deny: tuple[str, ...]
    allow: tuple[str, ...]
    conditions: tuple[Condition, ...]


def parse(text: str, name: str) -> Policy:
    """Read a policy; InvalidArguments with file, line and reason for the first mistake."""
    return read(text, name, lambda data: _policy(data, name))


def _policy(data: dict[str, Any], name: str) -> Policy:
    top = table(data, (), KEYS)
    sites = table(top.get("sites", {}), ("sites",), SITE_KEYS)
    return Policy(
        name=name,
        unattended=_unattended(top),
        elicitation=typed(top.get("elicitation", False), bool, ("elicitation",)),
        defaults=_levels(top, "defaults", DEFAULT_KEYS),
        tools=_levels(top, "tools"),
        plugins=_levels(top, "plugins"),
        domains=_domains(_levels(top, "domains")),
        toolsets=_levels(top, "toolsets", TOOLSETS),
        deny=items(sites.get("deny", []), ("sites", "deny"), pattern),
        allow=items(sites.get("allow", []), ("sites", "allow"), pattern),
        conditions=items(top.get("conditions", []), ("conditions",), read_condition),
    )


def _unattended(top: dict[str, Any]) -> Unattended | None:
    if "unattended" not in top:
        return None
    return cast(Unattended, word(top["unattended"], ("deny", "allow"), ("unattended",)))


def _levels(top: dict[str, Any], key: str, known: tuple[str, ...] | None = None) -> Levels:
    found = table(top.get(key, {}), (key,), known)
    return {name: level(value, (key, name)) for name, value in found.items()}


def _domains(written: Levels) -> Levels:
    domains: dict[str, Level] = {}
    for name, allowed in written.items():
        path: Path = ("domains", name)
        host = pattern(name, path)
        if host in domains:
            raise PolicyFault(path, f"{dotted(path)} is {host}, which has a level already")
        domains[host] = allowed
    return domains
