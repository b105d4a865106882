"""What is learned of a call on its way, for the audit."""

from collections.abc import Mapping
from typing import Any

from tabhub.calls.ports import Call, Event
from tabhub.errors import TabhubError
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool


class Record:
    """Filled in as the call goes on; whatever stays empty was never reached."""

    __slots__ = (
        "arguments",
        "call",
        "error",
        "rule",
        "secrets",
        "site",
        "started",
        "tab",
        "tool",
        "verdict",
    )

    def __init__(self, call: Call, started: float) -> None:
        self.call = call
        self.started = started
        self.tool: Tool | None = None
        self.arguments: Mapping[str, Any] = {}
        self.secrets: set[str] = set()
        self.tab: Tab | None = None
        self.site = ""
        self.verdict = "refused"
        self.rule = ""
        self.error: TabhubError | None = None

    def event(self, now: float, ended: float) -> Event:
        call = self.call
        plugin = "" if self.tool is None else self.tool.plugin or self.site
        return Event(
            time=now,
            client=call.client.name,
            agent=call.agent,
            session=call.session,
            tool=call.tool,
            plugin=plugin,
            tab=None if self.tab is None else self.tab.id,
            origin=self.site,
            arguments=self.arguments,
            secret_arguments=frozenset(self.secrets),
            verdict=self.verdict,
            rule=self.rule,
            error=self.error,
            duration_ms=(ended - self.started) * 1000,
            operation_id=call.operation_id,
        )
