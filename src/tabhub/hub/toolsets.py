"""Toolsets: named lists of tools, so that an agent need not read all there are."""

from collections.abc import Iterable

from tabhub.errors import InvalidArguments

ALL = "all"
TOOLSETS = ("core", "browser", "claude", "pages", "plugins")


def chosen(names: Iterable[str]) -> frozenset[str] | None:
    """The toolsets of these names; None stands for every tool."""
    wanted = frozenset(name.strip() for name in names)
    unknown = sorted(wanted - {ALL, *TOOLSETS})
    if unknown:
        there = ", ".join((*TOOLSETS, ALL))
        raise InvalidArguments(f"There is no toolset {unknown[0]!r}; there are {there}.")
    return None if ALL in wanted else wanted
