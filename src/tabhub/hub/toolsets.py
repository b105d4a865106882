"""Choosing toolsets by name."""

from collections.abc import Iterable

from tabhub.config.settings import TOOLSETS
from tabhub.errors import InvalidArguments

ALL = "all"


def chosen(names: Iterable[str]) -> frozenset[str] | None:
    """The toolsets of these names; None stands for every tool."""
    wanted = frozenset(name.strip() for name in names)
    unknown = sorted(wanted - {ALL, *TOOLSETS})
    if unknown:
        there = ", ".join((*TOOLSETS, ALL))
        raise InvalidArguments(f"There is no toolset {unknown[0]!r}; there are {there}.")
    return None if ALL in wanted else wanted
