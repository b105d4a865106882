"""State that survives a restart of the server: sessions with their tabs, grants, and pins."""

import logging
import sqlite3
from collections.abc import Callable
from typing import Any

import msgspec

from tabhub.hub.hub import Hub
from tabhub.hub.ownership import TabIdentity
from tabhub.hub.sessions import AgentSession
from tabhub.permissions.grants import OF_SESSION, Grant, Grants
from tabhub.permissions.rules import Pins
from tabhub.permissions.verdict import PageTool
from tabhub.store.client_times import SEEN
from tabhub.store.saved_shortcuts import SHORTCUTS
from tabhub.store.store import Collection, Store, decoded

log = logging.getLogger(__name__)

GRANTS = "grants"
PINS = "pins"
AGENTS = "agents"
STOPPED = "stopped"
MOST_WARNINGS = 100
"""Pages can claim one name in many ways; no one needs more warnings than this."""
_OWNERS = {GRANTS: "client", SHORTCUTS: "client", AGENTS: "client", "sessions": "caller"}
"""The collections that belong to clients, and the member of a value that names the client."""


class _SavedSession(msgspec.Struct):
    client: str
    name: str
    color: str
    paused: bool
    current: int | None
    """The browser's number of the current tab."""
    places: list[TabIdentity]


class SavedSessions:
    """Saves a session whenever it or its tabs change."""

    def __init__(self, store: Store, hub: Hub, now: float) -> None:
        self._collection = store.collection(AGENTS)
        self._switches = store.collection("switches")
        self._tabs = hub.tabs
        self._sessions = hub.sessions
        self._ownership = hub.ownership
        self._load(now)
        for listen in (self._sessions.on_change, self._sessions.on_use):
            listen(lambda session: self._write(session.key))
        self._sessions.on_stop(self._write_stopped)
        self._ownership.on_change(self._write)

    def _load(self, now: float) -> None:
        """Restore the sessions; their idle time starts now."""
        for key, saved in decoded(self._collection, _SavedSession):
            session = AgentSession(key, saved.client, saved.name, saved.color, now)
            session.paused, session.awaited, session.asleep = saved.paused, saved.current, True
            self._sessions.restore(session)
            self._ownership.restore(key, saved.places)
        self._sessions.stopped = STOPPED in self._switches.load()

    def _write(self, key: str) -> None:
        session = self._sessions.find(key)
        try:
            if session is None:
                self._collection.drop(key)
            else:
                self._collection.put(key, msgspec.json.encode(self._saved(session)))
        except sqlite3.Error as error:
            # The agent can continue; it only loses its tabs when the server restarts.
            log.error("session %s could not be saved: %s", key, error)

    def _write_stopped(self, stopped: bool) -> None:
        if stopped:
            self._switches.put(STOPPED, b"")
        else:
            self._switches.drop(STOPPED)

    def _saved(self, session: AgentSession) -> _SavedSession:
        current = None if session.current is None else self._tabs.find(session.current)
        return _SavedSession(
            client=session.client,
            name=session.name,
            color=session.color,
            paused=session.paused,
            current=session.awaited if current is None else current.native_id,
            places=self._ownership.places(session.key),
        )


class SavedGrants(Grants):
    """Grants that survive a restart; those for one session do not."""

    def __init__(self, collection: Collection, changed: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._collection = collection
        self._changed = changed
        self.reload()

    def reload(self) -> None:
        """Read the saved grants again: another process may have changed them."""
        for grant in self.all():
            if grant.scope not in OF_SESSION:
                super().remove(grant.id)
        for _, grant in decoded(self._collection, Grant):
            super().add(grant)

    def add(self, grant: Grant) -> Grant | None:
        older = super().add(grant)
        if older is not None:
            self._collection.drop(older.id)
        if grant.scope not in OF_SESSION:
            self._collection.put(grant.id, msgspec.json.encode(grant))
        self._changed()
        return older

    def remove(self, id: str) -> bool:
        self._collection.drop(id)
        removed = super().remove(id)
        self._changed()
        return removed


class SavedPins(Pins):
    """Pins that survive a restart."""

    def __init__(self, collection: Collection) -> None:
        super().__init__()
        self._collection = collection
        self._warned: set[tuple[str, PageTool]] = set()
        self._pinned.update(decoded(collection, tuple[str, str]))

    def meet(self, name: str, tool: PageTool) -> PageTool | None:
        owner = super().meet(name, tool)
        if owner is not None and owner != tool:
            self._warn(name, tool, owner)
        return owner

    def pin(self, name: str, tool: PageTool) -> None:
        super().pin(name, tool)
        self._save(lambda: self._collection.put(name, msgspec.json.encode(tool)))

    def free(self, name: str) -> None:
        super().free(name)
        self._save(lambda: self._collection.drop(name))

    def _save(self, change: Callable[[], None]) -> None:
        try:
            change()
        except sqlite3.Error as error:
            # It stays in memory until the server ends.
            log.error("the tool that a rule means could not be saved: %s", error)

    def _warn(self, name: str, tool: PageTool, owner: PageTool) -> None:
        if (name, tool) in self._warned or len(self._warned) >= MOST_WARNINGS:
            return
        self._warned.add((name, tool))
        log.warning(
            "%s of %s would be named %s, but the rule with that name is about %s of %s; it does "
            "not allow the former",
            *(tool[1], tool[0], name, owner[1], owner[0]),
        )


def forget_client(store: Store, client: str) -> None:
    """Delete the grants, shortcuts and sessions of a client, and when it was seen."""
    store.collection(SEEN).drop(client)
    for name, member in _OWNERS.items():
        collection = store.collection(name)
        for key, value in decoded(collection, dict[str, Any]):
            if value.get(member) == client:
                collection.drop(key)
