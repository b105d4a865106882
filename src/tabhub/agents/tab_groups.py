"""The session and the operation id that a call names."""

from typing import Any

from tabhub.calls.ports import AuditSink, incident
from tabhub.config.clients import Client
from tabhub.errors import Forbidden, ProtocolError
from tabhub.hub.sessions import AgentSessions

GROUP = "tabhub/group"
"""Names the tab group that a call without a session belongs to."""
LONGEST_OPERATION_ID = 200


class TabGroups:
    """Finds the session of a call by the tab group that it names."""

    def __init__(self, sessions: AgentSessions, audit: AuditSink) -> None:
        self._sessions = sessions
        self._audit = audit

    def session(self, handle: Any, client: Client, own: str) -> str:
        """The session of the named tab group; without a handle, the client's own."""
        if handle is None:
            return own
        try:
            return self._sessions.join(str(handle), client.name, own)
        except Forbidden as error:
            self._audit.record(incident("door", client.name, GROUP, error=error))
            raise


def operation_id(value: Any, name: str) -> str | None:
    """Check an operation id; `name` is what the caller calls it."""
    if value is None or (isinstance(value, str) and 0 < len(value) <= LONGEST_OPERATION_ID):
        return value
    raise ProtocolError(f"{name} must be a short string.", "invalid_params")
