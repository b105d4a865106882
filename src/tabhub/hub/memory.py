"""Tools that stay when their last tab closes: bounded, and no site crowds out another."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from tabhub.page_tools.core.storage import Remembered

ToolKey = tuple[str, str]
"""A domain, and what its pages call the tool."""


class Bounds(NamedTuple):
    """How much is kept.

    A site that people use has some dozens of tools, of a few kilobytes each. All are listed to
    every agent and read at every start: thousands of them are more than anybody looks through.
    """

    domain_tools: int = 200
    domain_bytes: int = 1024 * 1024
    tools: int = 5000
    bytes: int = 32 * 1024 * 1024


@dataclass(slots=True)
class _Shelf:
    """What one domain has; the oldest first."""

    tools: dict[str, Remembered] = field(default_factory=dict)
    size: int = 0

    @property
    def count(self) -> int:
        return len(self.tools)


class Memory:
    """By domain and the page's name for the tool; the latest word about a tool counts."""

    def __init__(self, bounds: Bounds = Bounds()) -> None:  # noqa: B008
        self._bounds = bounds
        self._domains: dict[str, _Shelf] = {}
        self._count = 0
        self._size = 0
        self._changed: dict[ToolKey, None] = {}

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Remembered]:
        for shelf in self._domains.values():
            yield from shelf.tools.values()

    def find(self, domain: str, tool: str) -> Remembered | None:
        shelf = self._domains.get(domain)
        return None if shelf is None else shelf.tools.get(tool)

    def keep(self, kept: Remembered) -> list[ToolKey]:
        """Keep it; what has to go for it, of its own domain only."""
        self.drop(kept.domain, kept.tool.name)
        shelf = self._domains.setdefault(kept.domain, _Shelf())
        shelf.tools[kept.tool.name] = kept
        self._count += 1
        self._weigh(shelf, _size(kept))
        self._changed[kept.domain, kept.tool.name] = None
        gone = []
        while self._is_full(shelf):
            gone.append(self._drop_oldest(kept.domain))
        return gone

    def drop(self, domain: str, tool: str) -> None:
        shelf = self._domains.get(domain)
        kept = None if shelf is None else shelf.tools.pop(tool, None)
        if shelf is None or kept is None:
            return
        self._count -= 1
        self._weigh(shelf, -_size(kept))
        self._changed[domain, tool] = None
        if not shelf.tools:
            del self._domains[domain]

    def trim(self) -> list[ToolKey]:
        """What has to go because there is too much in all: of the domain that has most, first."""
        return [
            *self._trimmed(lambda shelf: shelf.count, lambda: self._count > self._bounds.tools),
            *self._trimmed(lambda shelf: shelf.size, lambda: self._size > self._bounds.bytes),
        ]

    def take_changes(self) -> list[ToolKey]:
        """What was kept or dropped since the last time."""
        changed, self._changed = self._changed, {}
        return list(changed)

    @property
    def has_changes(self) -> bool:
        return bool(self._changed)

    def _is_full(self, shelf: _Shelf) -> bool:
        bounds = self._bounds
        return shelf.count > bounds.domain_tools or shelf.size > bounds.domain_bytes

    def _trimmed(
        self, measure: Callable[[_Shelf], int], is_over: Callable[[], bool]
    ) -> Iterator[ToolKey]:
        if not is_over():
            return
        # A heap, so that many domains with one tool each cost no more than a look at each.
        heap = [(-measure(shelf), domain) for domain, shelf in self._domains.items()]
        heapify(heap)
        while is_over():
            domain = heappop(heap)[1]
            yield self._drop_oldest(domain)
            if (shelf := self._domains.get(domain)) is not None:
                heappush(heap, (-measure(shelf), domain))

    def _drop_oldest(self, domain: str) -> ToolKey:
        tool = next(iter(self._domains[domain].tools))
        self.drop(domain, tool)
        return domain, tool

    def _weigh(self, shelf: _Shelf, more: int) -> None:
        shelf.size += more
        self._size += more


def _size(kept: Remembered) -> int:
    tool = kept.tool
    texts = (tool.name, tool.description, tool.title or "", kept.url)
    return len(tool.schema) + len(tool.annotations) + sum(map(len, texts))
