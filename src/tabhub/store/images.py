"""Keeps which agent has which tabs, so that both find each other after a restart of the server."""

import logging
import sqlite3
from collections.abc import Callable
from typing import Any

import msgspec

from tabhub.hub.hub import Hub
from tabhub.hub.ownership import Place
from tabhub.hub.sessions import AgentSession
from tabhub.permissions.grants import Grant, Grants
from tabhub.permissions.rules import Pins
from tabhub.permissions.verdict import PageTool
from tabhub.store.saved_shortcuts import SHORTCUTS
from tabhub.store.store import Shelf, Store, decoded

log = logging.getLogger(__name__)

STOPPED = "stopped"


class _Image(msgspec.Struct):
    client: str
    name: str
    color: str
    paused: bool
    current: int | None
    """The browser's own number."""
    places: list[Place]


class AgentImages:
    """Writes a session down whenever it or its tabs change."""

    def __init__(self, store: Store, hub: Hub, now: float) -> None:
        self._shelf = store.shelf("agents")
        self._switches = store.shelf("switches")
        self._tabs = hub.tabs
        self._sessions = hub.sessions
        self._ownership = hub.ownership
        self._load(now)
        self._sessions.on_change(lambda session: self._write(session.key))
        self._sessions.on_stop(self._write_stopped)
        self._ownership.on_change(self._write)

    def _load(self, now: float) -> None:
        """Who was there is counted as idle from now on, not from before the server was gone."""
        for key, image in decoded(self._shelf, _Image):
            session = AgentSession(key, image.client, image.name, image.color, now)
            session.paused, session.awaited, session.asleep = image.paused, image.current, True
            self._sessions.restore(session)
            self._ownership.restore(key, image.places)
        self._sessions.stopped = STOPPED in self._switches.load()

    def _write(self, key: str) -> None:
        session = self._sessions.find(key)
        try:
            if session is None:
                self._shelf.drop(key)
            else:
                self._shelf.put(key, msgspec.json.encode(self._image(session)))
        except sqlite3.Error as error:
            # The agent can work on; only a restart would not find its tabs.
            log.error("agent %s could not be written down: %s", key, error)

    def _write_stopped(self, stopped: bool) -> None:
        if stopped:
            self._switches.put(STOPPED, b"")
        else:
            self._switches.drop(STOPPED)

    def _image(self, session: AgentSession) -> _Image:
        current = None if session.current is None else self._tabs.find(session.current)
        return _Image(
            client=session.client,
            name=session.name,
            color=session.color,
            paused=session.paused,
            current=session.awaited if current is None else current.native_id,
            places=self._ownership.places(session.key),
        )


GRANTS = "grants"


class KeptGrants(Grants):
    """Grants that outlive the server; those for one session do not."""

    def __init__(self, shelf: Shelf, changed: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._shelf = shelf
        self._changed = changed
        self.reload()

    def reload(self) -> None:
        """Take what the shelf has: another process may have changed it."""
        for grant in self.all():
            if grant.scope != "session":
                super().remove(grant.id)
        for _, kept in decoded(self._shelf, Grant):
            super().add(kept)

    def add(self, grant: Grant) -> Grant | None:
        older = super().add(grant)
        if older is not None:
            self._shelf.drop(older.id)
        if grant.scope != "session":
            self._shelf.put(grant.id, msgspec.json.encode(grant))
        self._changed()
        return older

    def remove(self, id: str) -> bool:
        self._shelf.drop(id)
        removed = super().remove(id)
        self._changed()
        return removed


PINS = "pins"
MOST_TOLD = 100
"""Pages can take one name in many ways; nobody reads more of that."""


class KeptPins(Pins):
    """Pins that outlive the server."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self._shelf = shelf
        self._told: set[tuple[str, PageTool]] = set()
        self._pinned.update(decoded(shelf, tuple[str, str]))

    def meet(self, name: str, tool: PageTool) -> PageTool | None:
        owner = super().meet(name, tool)
        if owner is not None and owner != tool:
            self._tell(name, tool, owner)
        return owner

    def pin(self, name: str, tool: PageTool) -> None:
        super().pin(name, tool)
        self._safely(lambda: self._shelf.put(name, msgspec.json.encode(tool)))

    def free(self, name: str) -> None:
        super().free(name)
        self._safely(lambda: self._shelf.drop(name))

    def _safely(self, work: Callable[[], None]) -> None:
        try:
            work()
        except sqlite3.Error as error:
            # It holds until the server ends; pages go on.
            log.error("whose tool a rule is about could not be written down: %s", error)

    def _tell(self, name: str, tool: PageTool, owner: PageTool) -> None:
        if (name, tool) in self._told or len(self._told) >= MOST_TOLD:
            return
        self._told.add((name, tool))
        log.warning(
            "%s of %s would be called %s, but the rule of that name is about %s of %s; it allows "
            "nothing to the former",
            *(tool[1], tool[0], name, owner[1], owner[0]),
        )


_OWNERS = {GRANTS: "client", SHORTCUTS: "client", "agents": "client", "sessions": "caller"}
"""The shelves that belong to clients, and where their bodies say to whom."""


def forget_client(store: Store, client: str) -> None:
    """Drop what was granted to a client, its sessions, and what tabs they had."""
    for name, member in _OWNERS.items():
        shelf = store.shelf(name)
        for key, body in decoded(shelf, dict[str, Any]):
            if body.get(member) == client:
                shelf.drop(key)
