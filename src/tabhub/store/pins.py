"""Keeps whose tool the name in a rule stands for."""

import logging
import sqlite3
from collections.abc import Callable

import msgspec

from tabhub.permissions.pins import PageTool, Pins
from tabhub.store.store import Shelf, decoded

log = logging.getLogger(__name__)

PINS = "pins"
MOST_TOLD = 100
"""Pages can take one name in many ways; nobody reads more of that."""


class KeptPins(Pins):
    """Pins that outlive the server."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self._shelf = shelf
        self._told: set[tuple[str, PageTool]] = set()
        self._pinned.update(decoded(shelf, tuple[str, str]))

    def meet(self, name: str, tool: PageTool) -> PageTool | None:
        owner = super().meet(name, tool)
        if owner is not None and owner != tool:
            self._tell(name, tool, owner)
        return owner

    def pin(self, name: str, tool: PageTool) -> None:
        super().pin(name, tool)
        self._safely(lambda: self._shelf.put(name, msgspec.json.encode(tool)))

    def free(self, name: str) -> None:
        super().free(name)
        self._safely(lambda: self._shelf.drop(name))

    def _safely(self, work: Callable[[], None]) -> None:
        try:
            work()
        except sqlite3.Error as error:
            # It holds until the server ends; pages go on.
            log.error("whose tool a rule is about could not be written down: %s", error)

    def _tell(self, name: str, tool: PageTool, owner: PageTool) -> None:
        if (name, tool) in self._told or len(self._told) >= MOST_TOLD:
            return
        self._told.add((name, tool))
        log.warning(
            "%s of %s would be called %s, but the rule of that name is about %s of %s; it allows "
            "nothing to the former",
            *(tool[1], tool[0], name, owner[1], owner[0]),
        )
