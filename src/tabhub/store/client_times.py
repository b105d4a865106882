"""When each client was seen last, across restarts of the server."""

import time
from collections.abc import Callable

from tabhub.store.store import Store, decoded

SEEN = "clients_seen"
WRITE_SECONDS = 60.0
"""How often the time of one client is written: a client that works is seen a hundred times a
second."""


class ClientTimes:
    """Notes every request of a client, in memory at once and in the store now and then."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._collection = store.collection(SEEN)
        self._clock = clock
        self._times = dict(decoded(self._collection, float))
        self._written: dict[str, float] = {}
        self._listeners: list[Callable[[], None]] = []

    def seen(self, client: str) -> None:
        now = self._times[client] = self._clock()
        written = self._written.get(client)
        if written is not None and now - written < WRITE_SECONDS:
            return
        self._written[client] = now
        self._collection.put(client, b"%.3f" % now)
        if written is None:
            for listener in self._listeners:
                listener()

    def last(self, client: str) -> float | None:
        """In seconds since 1970."""
        return self._times.get(client)

    def all(self) -> dict[str, float]:
        """Every client that was ever seen, in seconds since 1970."""
        return dict(self._times)

    def forget(self, client: str) -> None:
        self._times.pop(client, None)
        self._written.pop(client, None)
        self._collection.drop(client)

    def on_new(self, listener: Callable[[], None]) -> None:
        """Listen to each client that is seen for the first time since the server started."""
        self._listeners.append(listener)
