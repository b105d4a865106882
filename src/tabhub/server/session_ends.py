"""Ending the sessions of agents: on request, when idle, or when a token was revoked."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tabhub.agents.http.connections import Connections, Slot
from tabhub.agents.http.rates import Rates
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.agents.mcp.session import Register
from tabhub.agents.mcp.sse import SseEndpoint
from tabhub.browser.link.browsers import Browsers
from tabhub.calls.running import RunningCalls
from tabhub.config.settings import Settings
from tabhub.errors import AccessError
from tabhub.hub.hub import Hub
from tabhub.hub.sessions import AgentSession, AgentSessions
from tabhub.store.active_rules import ActiveRules

log = logging.getLogger(__name__)

GRACE_SECONDS = 1.0
"""Grace period for a dropped client to read its last message."""


@dataclass
class SessionEnds:
    """Ends sessions and releases everything that they hold."""

    settings: Settings
    hub: Hub
    browsers: Browsers
    rules: ActiveRules
    rates: Rates
    running: RunningCalls
    connections: Connections
    endpoints: tuple[McpEndpoint, ...] = ()
    """The endpoints whose sessions outlive their connections."""
    sse: SseEndpoint | None = None

    @property
    def registers(self) -> tuple[Register[Any], ...]:
        """The sessions of every endpoint."""
        sessions: list[Register[Any]] = [endpoint.sessions for endpoint in self.endpoints]
        return (*sessions, self.sse.sessions) if self.sse else tuple(sessions)

    def counts(self) -> dict[str, int]:
        """How many sessions clients have opened, by endpoint."""
        return dict(zip(("mcp", "gateway", "sse"), map(len, self.registers), strict=True))

    def count_of(self, client: str) -> int:
        """How many sessions a client has open."""
        return len(self._sessions_of(lambda name: name == client))

    def has_session(self, key: str) -> bool:
        return any(key in sessions for sessions in self.registers)

    def drop(
        self, matches: Callable[[str], bool], stays: Callable[[str], bool] = lambda key: False
    ) -> None:
        """Drop the clients whose name matches; calls end even in sessions that stay."""
        dropped = self._sessions_of(matches)
        error = AccessError("The token of this client was revoked.")
        self.running.end(error, lambda running: running.session in dropped)
        if self.sse:
            self.sse.end_of(matches, error)
        for key in dropped:
            if not stays(key):
                self.end_session(key)
        slots = self.connections.of(matches)
        if slots:
            asyncio.get_running_loop().call_later(GRACE_SECONDS, _close, slots)

    def _sessions_of(self, matches: Callable[[str], bool]) -> set[str]:
        found = {agent.key for agent in self.hub.sessions.all() if matches(agent.client)}
        for endpoint in self.endpoints:
            # The hub does not know a session before its first call, but it gets notifications.
            sessions = endpoint.sessions.all()
            found |= {session.id for session in sessions if matches(session.caller.name)}
        return found

    def end_session(self, key: str) -> None:
        """End a session of any kind."""
        for sessions in self.registers:
            if key in sessions:
                sessions.end(key)
                return
        self.release(key)

    def release(self, session: str) -> None:
        """Release what a session holds: its tabs are closed, or left to the person."""
        self.rates.forget(session)
        self.rules.grants.end_session(session)
        tabs = self.hub.ownership.end(session)
        self.hub.sessions.end(session)
        command = "tabs.close" if self.settings.sessions.close_tabs_on_end else "tabs.ungroup"
        for tab in map(self.hub.tabs.find, tabs):
            if tab is not None:
                self.browsers.release(tab, command)

    def reap(self, now: float) -> None:
        """End the sessions that have been idle too long."""
        for endpoint in self.endpoints:
            for id in endpoint.sessions.reap():
                log.info("session %s was idle and has ended", id)
        idle = self.hub.sessions.idle(now - self.settings.sessions.idle_minutes * 60)
        for key in idle:
            if not self.has_session(key) and not self.running.has(key):
                self.release(key)


class SessionLog:
    """Logs agents of shared sessions; the endpoints log the sessions that they open."""

    def __init__(self, sessions: AgentSessions, is_owned: Callable[[str], bool]) -> None:
        self._sessions = sessions
        self._is_owned = is_owned
        self._logged = {session.key: False for session in sessions.all()}
        """By session, whether its start was logged."""
        sessions.on_change(self._changed)

    def _changed(self, session: AgentSession) -> None:
        if self._sessions.find(session.key) is None:
            if self._logged.pop(session.key, False):
                log.info("agent %s (client %s) disconnected", session.name, session.client)
        elif session.key not in self._logged:
            self._logged[session.key] = logged = not self._is_owned(session.key)
            if logged:
                log.info("agent %s (client %s) connected", session.name, session.client)


def _close(slots: list[Slot]) -> None:
    for slot in slots:
        slot.close()
