"""Who leaves the server: agents that end, idle ones, and clients whose token is no more."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tabhub.agents.crowd import Crowd, Seat
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.agents.mcp.session import Register
from tabhub.agents.mcp.sse import SseEndpoint
from tabhub.agents.rates import Rates
from tabhub.browser.browsers import Browsers
from tabhub.calls.running import RunningCalls
from tabhub.config.settings import Settings
from tabhub.errors import AccessError
from tabhub.hub.hub import Hub
from tabhub.store.rules import Rules

log = logging.getLogger(__name__)

FAREWELL_SECONDS = 1.0
"""How long who was let go may read what was said to them."""


@dataclass
class Departures:
    """Knows everything that a session holds, and lets go of it."""

    settings: Settings
    hub: Hub
    browsers: Browsers
    rules: Rules
    rates: Rates
    running: RunningCalls
    crowd: Crowd
    endpoints: tuple[McpEndpoint, ...] = ()
    """The ways in whose sessions outlive their connections."""
    sse: SseEndpoint | None = None

    @property
    def registers(self) -> tuple[Register[Any], ...]:
        """The sessions of every way in."""
        sessions: list[Register[Any]] = [endpoint.sessions for endpoint in self.endpoints]
        return (*sessions, self.sse.sessions) if self.sse else tuple(sessions)

    def has_session(self, key: str) -> bool:
        return any(key in sessions for sessions in self.registers)

    def drop(
        self, which: Callable[[str], bool], stays: Callable[[str], bool] = lambda key: False
    ) -> None:
        """Put clients out; what they have under way ends also where their session stays."""
        gone = self._sessions_of(which)
        error = AccessError("The token of this client was revoked.")
        self.running.end(error, lambda running: running.call.session in gone)
        if self.sse:
            self.sse.end_of(which, error)
        for key in gone:
            if not stays(key):
                self.end_session(key)
        seats = self.crowd.of(which)
        if seats:
            asyncio.get_running_loop().call_later(FAREWELL_SECONDS, _send_away, seats)

    def _sessions_of(self, which: Callable[[str], bool]) -> set[str]:
        found = {agent.key for agent in self.hub.sessions.all() if which(agent.client)}
        for endpoint in self.endpoints:
            # One that has called nothing yet still hears the news.
            sessions = endpoint.sessions.all()
            found |= {one.id for one in sessions if which(one.caller.name)}
        return found

    def end_session(self, key: str) -> None:
        """End a session of whichever kind."""
        for sessions in self.registers:
            if key in sessions:
                sessions.end(key)
                return
        self.release(key)

    def release(self, session: str) -> None:
        """An agent has gone: its tabs are closed, or left to the person."""
        self.rates.forget(session)
        self.rules.grants.end_session(session)
        tabs = self.hub.ownership.end(session)
        self.hub.sessions.end(session)
        command = "tabs.close" if self.settings.sessions.close_tabs_on_end else "tabs.ungroup"
        for tab in map(self.hub.tabs.find, tabs):
            if tab is not None:
                self.browsers.let_go(tab, command)

    def reap(self, now: float) -> None:
        """End what has been idle too long."""
        for endpoint in self.endpoints:
            for id in endpoint.sessions.reap():
                log.info("session %s was idle and has been ended", id)
        idle = self.hub.sessions.idle(now - self.settings.sessions.idle_minutes * 60)
        for key in idle:
            if not self.has_session(key) and not self.running.has(key):
                self.release(key)
        self.rules.grants.drop_expired(now)


def _send_away(seats: list[Seat]) -> None:
    for seat in seats:
        seat.leave()
