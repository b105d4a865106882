"""Keeps which agent has which tabs, so that both find each other after a restart of the server."""

import msgspec

from tabhub.hub.hub import Hub
from tabhub.hub.ownership import Place
from tabhub.hub.sessions import AgentSession
from tabhub.store.store import Shelf


class _Image(msgspec.Struct):
    client: str
    name: str
    color: str
    used: float
    paused: bool
    current: int | None
    """The browser's own number."""
    places: list[Place]


class AgentImages:
    """Writes a session down whenever it or its tabs change."""

    def __init__(self, shelf: Shelf, hub: Hub) -> None:
        self._shelf = shelf
        self._tabs = hub.tabs
        self._sessions = hub.sessions
        self._ownership = hub.ownership
        self._load()
        self._sessions.on_change(lambda session: self._write(session.key))
        self._ownership.on_change(self._write)

    def _load(self) -> None:
        for key, body in self._shelf.load().items():
            image = msgspec.json.decode(body, type=_Image)
            session = AgentSession(key, image.client, image.name, image.color, image.used)
            session.paused, session.awaited = image.paused, image.current
            self._sessions.restore(session)
            self._ownership.restore(key, image.places)

    def _write(self, key: str) -> None:
        session = self._sessions.find(key)
        if session is None:
            self._shelf.drop(key)
        else:
            self._shelf.put(key, msgspec.json.encode(self._image(session)))

    def _image(self, session: AgentSession) -> _Image:
        current = None if session.current is None else self._tabs.find(session.current)
        return _Image(
            client=session.client,
            name=session.name,
            color=session.color,
            used=session.used,
            paused=session.paused,
            current=session.awaited if current is None else current.native_id,
            places=self._ownership.places(session.key),
        )
