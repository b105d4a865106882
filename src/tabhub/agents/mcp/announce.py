"""News for every connected client: a list has changed, a resource has changed."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from tabhub.wire.mcp.messages import Json, ListenFilter


@dataclass(frozen=True)
class Change:
    """`kind` is tools, prompts, resources, or resource for a single one."""

    kind: str
    uri: str | None = None

    @property
    def method(self) -> str:
        if self.uri is not None:
            return "notifications/resources/updated"
        return f"notifications/{self.kind}/list_changed"

    @property
    def params(self) -> Json:
        return {} if self.uri is None else {"uri": self.uri}

    def wanted_by(self, chosen: ListenFilter) -> bool:
        if self.uri is not None:
            return self.uri in (chosen.resource_subscriptions or ())
        return bool(getattr(chosen, f"{self.kind}_list_changed"))


Listener = Callable[[Change], None]


class Announcer:
    """Who wants to hear of changes; listeners are told at once and must not block."""

    def __init__(self) -> None:
        self._listeners: dict[object, Listener] = {}

    def __len__(self) -> int:
        return len(self._listeners)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        token = object()
        self._listeners[token] = listener

        def unsubscribe() -> None:
            self._listeners.pop(token, None)

        return unsubscribe

    def announce(self, change: Change) -> None:
        for listener in list(self._listeners.values()):
            listener(change)


class Inbox:
    """Changes that wait for one slow client; the same change never waits twice."""

    def __init__(self) -> None:
        self._waiting: dict[Change, None] = {}
        self._closed = False
        self._arrived = asyncio.Event()

    def put(self, change: Change) -> None:
        self._waiting[change] = None
        self._arrived.set()

    def close(self) -> None:
        self._closed = True
        self._arrived.set()

    async def take(self) -> list[Change] | None:
        """All that waits, at least one; None when there will be no more."""
        await self._arrived.wait()
        self._arrived.clear()
        changes, self._waiting = list(self._waiting), {}
        return None if self._closed else changes
