"""Conditions about a call's arguments. What is not sure to fit does not fit."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import msgspec

from tabhub.permissions.levels import Level
from tabhub.permissions.patterns import HostPatterns
from tabhub.permissions.sites import site_of_typed

HISTORY = ("back", "forward", "reload")
"""What a tab can be sent to without an address; where that leads is judged by its site."""
LONGEST = 2000
"""Characters of a value that a regular expression is tried on."""


class Test(Protocol):
    """Says whether a value is as it should be."""

    def fits(self, value: object) -> bool: ...


class Hosts:
    """An address, or a step in the history."""

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
    """A regular expression for the whole text."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def fits(self, value: object) -> bool:
        if not isinstance(value, str) or len(value) > LONGEST:
            return False
        return self._pattern.fullmatch(value) is not None


class Condition(msgspec.Struct, frozen=True):
    """The most that is allowed to some tools unless an argument passes its test."""

    tools: tuple[str, ...]
    argument: str
    test: Test
    otherwise: Level
    optional: bool
    text: str
    """Where it is written, and what it says."""

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        if self.argument not in arguments:
            return self.optional
        return self.test.fits(arguments[self.argument])
