"""Which tools of a page's list are taken in: what fits, with no more work than a list is worth."""

from collections.abc import Callable

from msgspec import Raw

from tabhub.config.settings import Limits
from tabhub.page_tools.core.storage import Published
from tabhub.pages.unfit import Unfit

MOST_REFUSED = 50
"""After so many that are unfit the rest of a list is not looked at."""
MOST_PLACES = 200_000
"""Values in all definitions of a list, counted before they are read."""
TOO_LARGE = "the tools of a tab are too large together"

Tools = dict[str, Published]


class Intake:
    """The allowance of one list: tools, bytes, places, and faults."""

    def __init__(
        self, limits: Limits, most: int, room: int, complain: Callable[[str], object]
    ) -> None:
        self._limits = limits
        self._most = most
        self._room = room
        self._complain = complain
        self._places = MOST_PLACES
        self._refused = 0

    def take(self, told: list[Raw], checked: Callable[[Raw], Published]) -> Tools:
        tools: Tools = {}
        for number, raw in enumerate(told):
            self._places -= _places(raw)
            if (full := self._full(tools, len(told) - number)) is not None:
                self._complain(full)
                break
            try:
                self._put(tools, checked(raw))
            except Unfit as unfit:
                self._complain(str(unfit))
                self._refused += 1
                self._room -= len(raw)
        return tools

    def _full(self, tools: Tools, left: int) -> str | None:
        """Why no more is taken."""
        if len(tools) >= self._most:
            return f"more than {self._limits.tools_per_tab} tools in a tab"
        if self._refused >= MOST_REFUSED:
            return f"{self._refused} tools are unfit; {left} more are refused unread"
        if self._room < 0 or self._places < 0:
            return TOO_LARGE
        return None

    def _put(self, tools: Tools, tool: Published) -> None:
        if tool.name in tools:
            raise Unfit(f"two tools called {tool.name}; the first counts")
        self._room -= len(tool.schema) + len(tool.description)
        if self._room < 0:
            raise Unfit(TOO_LARGE)
        tools[tool.name] = tool


def _places(raw: Raw) -> int:
    """At least as many as there are values in it."""
    written = bytes(raw)
    return 1 + written.count(b",") + written.count(b"[") + written.count(b"{")
