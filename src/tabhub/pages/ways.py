"""The ways to pages: which are open, and what was reached by one that has gone for a while."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tabhub.page_tools.core.storage import PageRef
from tabhub.pages.transport import PageTransport

GONE_SECONDS = 60.0
"""How long pages stay whose way has gone, in case it comes back."""
BACK_SECONDS = 5.0
"""How long pages have to register anew then."""

Late = Callable[[str, set[PageRef]], None]
"""Takes a way, and the pages that have not come back by it."""


class Timer(Protocol):
    def cancel(self) -> None: ...


Later = Callable[[float, Callable[[], None]], Timer]


@dataclass
class _Way:
    """Open while there is a transport. `awaited` are pages from before it went, until the timer."""

    transport: PageTransport | None = None
    awaited: set[PageRef] = field(default_factory=set)
    timer: Timer | None = None


class Ways:
    """open → gone → back → open; each step has one timer, and only the last one counts."""

    def __init__(self, late: Late, later: Later) -> None:
        self._late = late
        self._later = later
        self._ways: dict[str, _Way] = {}

    def find(self, name: str) -> PageTransport | None:
        way = self._ways.get(name)
        return None if way is None else way.transport

    def opened(self, name: str, transport: PageTransport) -> None:
        """A way whose pages go with it."""
        self._ways[name] = _Way(transport)

    def closed(self, name: str) -> bool:
        """It will not come back; whether it was there."""
        return self._ways.pop(name, None) is not None

    def gone(self, name: str, pages: set[PageRef]) -> None:
        """It may come back: until then nobody reaches its pages, but they stay."""
        way = self._ways.get(name)
        if way is not None and way.transport is not None:
            way.transport = None
            way.awaited |= pages
            self._wait(name, way, GONE_SECONDS)

    def back(self, name: str, transport: PageTransport, pages: set[PageRef]) -> None:
        """It is there again, or for the first time; these have been here before."""
        way = self._ways.setdefault(name, _Way())
        way.transport = transport
        way.awaited |= pages
        self._wait(name, way, BACK_SECONDS)

    def came(self, page: PageRef) -> None:
        """A page has registered anew."""
        way = self._ways.get(page.transport)
        if way is not None:
            way.awaited.discard(page)

    def _wait(self, name: str, way: _Way, seconds: float) -> None:
        if way.timer is not None:
            way.timer.cancel()
        way.timer = self._later(seconds, lambda: self._end(name, way))

    def _end(self, name: str, way: _Way) -> None:
        late, way.awaited, way.timer = way.awaited, set(), None
        if way.transport is None:
            self._ways.pop(name, None)
        self._late(name, late)


def later(seconds: float, work: Callable[[], None]) -> Timer:
    return asyncio.get_running_loop().call_later(seconds, work)
