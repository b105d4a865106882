"""Connections that have not become WebSockets: few of an address, and none for long."""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tabhub.proxy.addresses import source_of
from tabhub.proxy.service import MOST_STRANGERS, MOST_STRANGERS_OF_ADDRESS
from tabhub.proxy.switchboard import AUTHENTICATION_SECONDS

MOST_BYTES = 100_000
"""That a connection may send before it is a WebSocket."""


class UnauthenticatedCounts:
    """How many there are of each address."""

    def __init__(self) -> None:
        self._of_source: Counter[str] = Counter()
        self._all = 0

    def __len__(self) -> int:
        return self._all

    def admit(self, address: str) -> str | None:
        """Count a connection; returns what to give to `left`, or None if there are too many."""
        source = source_of(address)
        if self._all >= MOST_STRANGERS or self._of_source[source] >= MOST_STRANGERS_OF_ADDRESS:
            return None
        self._all += 1
        self._of_source[source] += 1
        return source

    def left(self, source: str) -> None:
        self._all -= 1
        self._of_source[source] -= 1
        if not self._of_source[source]:
            del self._of_source[source]


class UnauthenticatedConnection(HttpToolsProtocol):
    """One connection. Whoever has not sent a request has shown no token, nor ever may."""

    counts: UnauthenticatedCounts

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._source: str | None = None
        """Set while it is counted."""
        self._bytes = 0
        self.is_made = False
        self._timer: asyncio.TimerHandle | None = None

    def count_as(self, source: str) -> None:
        """It was counted before it was encrypted."""
        self._source = source

    def connection_made(  # type: ignore[override]
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        self.is_made = True
        if self._source is None:
            self._source = self.counts.admit(self.client[0] if self.client else "")
        if self._source is None:
            transport.abort()
            return
        # All that is asked here besides a WebSocket is answered in a moment.
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(AUTHENTICATION_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        self._bytes += len(data)
        if self._bytes > MOST_BYTES:
            # httptools would keep headers without end.
            self.transport.abort()
            return
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        # From here on it counts as a socket without a token, which has its own time.
        self.leave()
        super().handle_websocket_upgrade()

    def leave(self) -> None:
        """Count it no longer."""
        if self._timer is not None:
            self._timer.cancel()
        if self._source is not None:
            self.counts.left(self._source)
            self._source = None


def connections_for(counts: UnauthenticatedCounts) -> type[UnauthenticatedConnection]:
    """The class that uvicorn takes for HTTP, whose connections are counted here."""
    return type("CountedConnection", (UnauthenticatedConnection,), {"counts": counts})
