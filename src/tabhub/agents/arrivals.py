"""Writes into the log which agents come and go that have no session of MCP."""

import logging
from collections.abc import Callable

from tabhub.hub.sessions import AgentSession, AgentSessions

log = logging.getLogger(__name__)


class Arrivals:
    """Knows who is there; sessions that have an owner are told of by that."""

    def __init__(self, sessions: AgentSessions, is_owned: Callable[[str], bool]) -> None:
        self._sessions = sessions
        self._is_owned = is_owned
        self._told = {session.key: False for session in sessions.all()}
        """Whether the arrival of who is there was told."""
        sessions.on_change(self._changed)

    def _changed(self, session: AgentSession) -> None:
        if self._sessions.find(session.key) is None:
            if self._told.pop(session.key, False):
                log.info("agent %s (client %s) has gone", session.name, session.client)
        elif session.key not in self._told:
            self._told[session.key] = told = not self._is_owned(session.key)
            if told:
                log.info("agent %s (client %s) has come", session.name, session.client)
