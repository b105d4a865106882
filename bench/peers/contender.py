"""What all who are compared can be asked to do; each in its own words."""

from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass(frozen=True)
class Spot:
    """An element, as people and as selectors would name it."""

    role: str
    name: str
    selector: str


class CannotDo(Exception):
    """This one has no such tool."""


class Contender(ABC):
    """Shows one page; each deed tells how many bytes an agent reads of its answer."""

    name: str
    is_peer = True

    @abstractmethod
    async def visit(self, url: str) -> int:
        """Go there, and come back when it has loaded."""

    @abstractmethod
    async def evaluate(self) -> int:
        """What `1 + 1` is in the page."""

    @abstractmethod
    async def screenshot(self) -> int:
        """A picture of what is in view."""

    async def prepare(self, spot: Spot) -> None:
        """Get to know an element before it is used, untimed."""
        return

    async def click(self, spot: Spot) -> int:
        raise CannotDo

    async def fill(self, spot: Spot, text: str) -> int:
        raise CannotDo

    async def snapshot(self) -> int:
        raise CannotDo

    async def list_tabs(self) -> int:
        raise CannotDo

    async def open_tab(self, url: str) -> int:
        raise CannotDo

    async def close_tab(self) -> None:
        """The one opened last; the page before is shown again."""
        raise CannotDo

    async def list_tools(self) -> int:
        raise CannotDo
