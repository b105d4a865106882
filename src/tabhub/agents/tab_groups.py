"""Which session a call belongs to, and the id under which it runs once."""

from typing import Any

from tabhub.calls.incidents import incident
from tabhub.calls.ports import AuditSink
from tabhub.config.clients import Client
from tabhub.errors import Forbidden, ProtocolError
from tabhub.hub.sessions import AgentSessions

GROUP = "tabhub/group"
"""Names the tab group that a call without a session belongs to."""
LONGEST_OPERATION_ID = 200
LONGEST_AGENT = 80


class TabGroups:
    """Finds the session of a call by the tab group that it names."""

    def __init__(self, sessions: AgentSessions, audit: AuditSink) -> None:
        self._sessions = sessions
        self._audit = audit

    def session(self, handle: Any, client: Client, own: str) -> str:
        """The session that a call belongs to: the group it names, else the client's own."""
        if handle is None:
            return own
        try:
            return self._sessions.join(str(handle), client.name, own)
        except Forbidden as error:
            self._audit.record(incident("door", client.name, GROUP, error=error))
            raise


def operation_id(given: Any, called: str) -> str | None:
    if given is None or (isinstance(given, str) and 0 < len(given) <= LONGEST_OPERATION_ID):
        return given
    raise ProtocolError(f"{called} must be a short string.", "invalid_params")
