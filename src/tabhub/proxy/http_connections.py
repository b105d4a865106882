"""Connections that have not become WebSockets: few of an address, and none for long."""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tabhub.proxy.service import MOST_STRANGERS, MOST_STRANGERS_OF_ADDRESS
from tabhub.proxy.switchboard import AUTHENTICATION_SECONDS


class UnauthenticatedCounts:
    """How many there are of each address."""

    def __init__(self) -> None:
        self._of_address: Counter[str] = Counter()
        self._all = 0

    def __len__(self) -> int:
        return self._all

    def is_crowded(self, address: str) -> bool:
        is_full = self._all >= MOST_STRANGERS
        return is_full or self._of_address[address] >= MOST_STRANGERS_OF_ADDRESS

    def came(self, address: str) -> None:
        self._all += 1
        self._of_address[address] += 1

    def left(self, address: str) -> None:
        self._all -= 1
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]


class UnauthenticatedConnection(HttpToolsProtocol):
    """One connection. Whoever has not sent a request has shown no token, nor ever may."""

    counts: UnauthenticatedCounts

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._address: str | None = None
        """Set while it is counted."""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(  # type: ignore[override]
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        if self.counts.is_crowded(address):
            transport.abort()
            return
        self._address = address
        self.counts.came(address)
        # All that is asked here besides a WebSocket is answered in a moment.
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(AUTHENTICATION_SECONDS, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        # From here on it counts as a socket without a token, which has its own time.
        self._leave()
        super().handle_websocket_upgrade()

    def _leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._address is not None:
            self.counts.left(self._address)
            self._address = None


def connections_for(counts: UnauthenticatedCounts) -> type[UnauthenticatedConnection]:
    """The class that uvicorn takes for HTTP, whose connections are counted here."""
    return type("CountedConnection", (UnauthenticatedConnection,), {"counts": counts})
