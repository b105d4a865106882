"""Remembered tools: those that stay listed when the last tab that has them closes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import msgspec
from msgspec import Struct

from tabhub.page_tools.core.storage import Published

ToolKey = tuple[str, str]
"""A domain, and the name of a tool in its pages."""


class Remembered(Struct, frozen=True):
    """A tool that stays listed although no tab may have it."""

    domain: str
    tool: Published
    url: str
    origin: str
    at: float
    transport: str = msgspec.field(default="", name="way")
    """The transport of the page that published it last. (`way` is the name in stored rows.)"""


class Bounds(NamedTuple):
    """How many remembered tools are kept, and how large.

    A real site has some dozens of tools of a few kilobytes each. All of them are listed to every
    agent and read at every start, so more would cost more than they are worth.
    """

    domain_tools: int = 200
    domain_bytes: int = 1024 * 1024
    tools: int = 5000
    bytes: int = 32 * 1024 * 1024


@dataclass(slots=True)
class _DomainMemory:
    """The remembered tools of one domain, the oldest first."""

    tools: dict[str, Remembered] = field(default_factory=dict)
    size: int = 0

    @property
    def count(self) -> int:
        return len(self.tools)


class ToolMemory:
    """The remembered tools, by domain and name; the latest publication of a tool counts."""

    def __init__(self, bounds: Bounds = Bounds()) -> None:  # noqa: B008
        self._bounds = bounds
        self._domains: dict[str, _DomainMemory] = {}
        self._count = 0
        self._size = 0
        self._changed: dict[ToolKey, None] = {}

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Remembered]:
        for memory in self._domains.values():
            yield from memory.tools.values()

    def find(self, domain: str, tool: str) -> Remembered | None:
        memory = self._domains.get(domain)
        return None if memory is None else memory.tools.get(tool)

    def keep(self, kept: Remembered) -> list[ToolKey]:
        """Remember a tool; returns those of its domain that had to be dropped for it."""
        self.drop(kept.domain, kept.tool.name)
        memory = self._domains.setdefault(kept.domain, _DomainMemory())
        memory.tools[kept.tool.name] = kept
        self._count += 1
        self._weigh(memory, _size(kept))
        self._changed[kept.domain, kept.tool.name] = None
        gone = []
        while self._is_full(memory):
            gone.append(self._drop_oldest(kept.domain))
        return gone

    def drop(self, domain: str, tool: str) -> None:
        memory = self._domains.get(domain)
        kept = None if memory is None else memory.tools.pop(tool, None)
        if memory is None or kept is None:
            return
        self._count -= 1
        self._weigh(memory, -_size(kept))
        self._changed[domain, tool] = None
        if not memory.tools:
            del self._domains[domain]

    def trim(self) -> list[ToolKey]:
        """Drop tools until the totals fit, from the largest domain first; returns the dropped."""
        return [
            *self._trimmed(lambda memory: memory.count, lambda: self._count > self._bounds.tools),
            *self._trimmed(lambda memory: memory.size, lambda: self._size > self._bounds.bytes),
        ]

    def take_changes(self) -> list[ToolKey]:
        """The tools kept or dropped since the last call."""
        changed, self._changed = self._changed, {}
        return list(changed)

    @property
    def has_changes(self) -> bool:
        return bool(self._changed)

    def _is_full(self, memory: _DomainMemory) -> bool:
        bounds = self._bounds
        return memory.count > bounds.domain_tools or memory.size > bounds.domain_bytes

    def _trimmed(
        self, measure: Callable[[_DomainMemory], int], is_over: Callable[[], bool]
    ) -> Iterator[ToolKey]:
        if not is_over():
            return
        # A heap, because there may be many domains with one tool each.
        heap = [(-measure(memory), domain) for domain, memory in self._domains.items()]
        heapify(heap)
        while is_over():
            domain = heappop(heap)[1]
            yield self._drop_oldest(domain)
            if (memory := self._domains.get(domain)) is not None:
                heappush(heap, (-measure(memory), domain))

    def _drop_oldest(self, domain: str) -> ToolKey:
        tool = next(iter(self._domains[domain].tools))
        self.drop(domain, tool)
        return domain, tool

    def _weigh(self, memory: _DomainMemory, more: int) -> None:
        memory.size += more
        self._size += more


def _size(kept: Remembered) -> int:
    tool = kept.tool
    texts = (tool.name, tool.description, tool.title or "", kept.url)
    return len(tool.schema) + len(tool.annotations) + sum(map(len, texts))
