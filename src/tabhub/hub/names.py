"""Names of page tools. What one stands for, `ToolListing` knows: underscores tell nothing."""

import re
from collections.abc import Container
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


def free_name(meant: PageToolName, owner: object, taken: Container[str]) -> str:
    """A name that is not taken; `owner` tells apart what would be called the same.

    Names of our own tools and of plugins never begin like these: only page tools can meet.
    """
    name, number = fitted(meant), 0
    while name in taken:
        name = closed(_joined(meant), repr((tuple(meant), owner, number)))
        number += 1
    return name


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
