"""Names of page tools: format and parse, side by side. Parsing asks the register, never guesses."""

import re
from hashlib import sha256
from typing import NamedTuple

PREFIX = "website_tool_"
LONGEST = 64
HASH_CHARACTERS = 8
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")


class PageToolName(NamedTuple):
    """What a name stands for."""

    domain: str
    tool: str
    """As the page calls it."""
    nth: int | None = None
    """Which of the domain's tabs, where that is part of the name."""


class ToolNamer:
    """Gives every page tool a name that no other has, and knows what each name stands for.

    Names of our own tools and of plugins never begin like these: only page tools can meet.
    """

    def __init__(self) -> None:
        self._meanings: dict[str, PageToolName] = {}

    def take(self, meant: PageToolName, owner: object) -> str:
        """A free name; `owner` tells apart what would be called the same."""
        plain = fitted(meant)
        if plain not in self._meanings:
            self._meanings[plain] = meant
            return plain
        return self._distinct(meant, owner)

    def _distinct(self, meant: PageToolName, owner: object) -> str:
        number = 0
        while True:
            name = closed(_joined(meant), repr((tuple(meant), owner, number)))
            if name not in self._meanings:
                self._meanings[name] = meant
                return name
            number += 1

    def free(self, name: str) -> None:
        self._meanings.pop(name, None)

    def parse(self, name: str) -> PageToolName | None:
        return self._meanings.get(name)


def fitted(meant: PageToolName) -> str:
    """The name as anybody would expect it; one that is too long ends with a hash of the whole."""
    name = _joined(meant)
    return name if len(name) <= LONGEST else closed(name, repr(tuple(meant)))


def closed(name: str, whole: str) -> str:
    """A name cut to make room for a hash, the same whenever the whole is the same."""
    tail = "_" + sha256(whole.encode()).hexdigest()[:HASH_CHARACTERS]
    return name[: LONGEST - len(tail)] + tail


def _joined(meant: PageToolName) -> str:
    index = "" if meant.nth is None else f"tab{meant.nth}_"
    return PREFIX + _UNFIT.sub("_", f"{meant.domain}_{index}{meant.tool}")
