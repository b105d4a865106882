"""Keeps which agent has which tabs, so that both find each other after a restart of the server."""

import logging
import sqlite3

import msgspec

from tabhub.hub.hub import Hub
from tabhub.hub.ownership import Place
from tabhub.hub.sessions import AgentSession
from tabhub.store.store import Store, decoded

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
