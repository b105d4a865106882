"""The operations that every compared server is asked for, by its own tools."""

from abc import ABC, abstractmethod
from dataclasses import dataclass


@dataclass(frozen=True)
class Spot:
    """An element: its role and name, and its selector."""

    role: str
    name: str
    selector: str


class CannotDo(Exception):
    """This server has no such tool."""


class ComparedServer(ABC):
    """A server with one page open; each operation returns how many bytes an agent reads."""

    name: str
    is_peer = True

    @abstractmethod
    async def visit(self, url: str) -> int:
        """Navigate, and return once the page has loaded."""

    @abstractmethod
    async def evaluate(self) -> int:
        """Evaluate `1 + 1` in the page."""

    @abstractmethod
    async def screenshot(self) -> int:
        """Take a screenshot of the viewport."""

    async def prepare(self, spot: Spot) -> None:
        """Find an element before it is used; not timed."""
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
        """Close the tab that was opened last."""
        raise CannotDo

    async def list_tools(self) -> int:
        raise CannotDo
