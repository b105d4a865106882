"""Names of page tools. A name cannot be parsed back: site and tool may contain underscores."""

import re
from collections.abc import Container
from typing import NamedTuple

from tabhub.wire.tool_names import LONGEST, closed

PREFIX = "website_tool_"
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")


class PageToolName(NamedTuple):
    """The parts of a page tool's name."""

    domain: str
    tool: str
    """As the page calls it."""
    nth: int | None = None
    """Which of the domain's tabs, if tools are listed for each tab."""


def free_name(parts: PageToolName, owner: object, taken: Container[str]) -> str:
    """A name that is not taken; a hash with `owner` in it distinguishes equal names.

    Names of our own tools and of plugins begin differently, so only page tools can collide.
    """
    name, number = fitted(parts), 0
    while name in taken:
        name = closed(_joined(parts), repr((tuple(parts), owner, number)))
        number += 1
    return name


def fitted(parts: PageToolName) -> str:
    """The plain name; if it is too long, its end is replaced by a hash of the whole."""
    name = _joined(parts)
    return name if len(name) <= LONGEST else closed(name, repr(tuple(parts)))


def _joined(parts: PageToolName) -> str:
    index = "" if parts.nth is None else f"tab{parts.nth}_"
    return PREFIX + _UNFIT.sub("_", f"{parts.domain}_{index}{parts.tool}")
