"""What the administration endpoints do: reloading, showing settings and the audit log."""

from dataclasses import dataclass
from typing import Any

from tabhub.agents.admin import AuditQuery
from tabhub.audit.log import AuditLog
from tabhub.browser.link.browsers import Browsers
from tabhub.calls.ports import incident
from tabhub.config.clients import MAIN, Clients, hash_of, label_of
from tabhub.config.settings import Settings
from tabhub.errors import NotFound, TabhubError
from tabhub.server.reload import Reloading
from tabhub.server.status import Report

Json = dict[str, Any]


@dataclass
class Administration:
    """Implements `agents.admin.Actions`."""

    settings: Settings
    clients: Clients | None
    browsers: Browsers
    audit: AuditLog
    report: Report
    reloading: Reloading

    def reload(self) -> Json:
        return self.reloading.reload()

    def reload_extensions(self) -> int:
        count = self.browsers.reload_extensions()
        self.audit.record(incident("admin", MAIN.name, "extension reload"))
        return count

    def settings_in_force(self) -> Json:
        result: Json = {"settings": self.report.settings_in_force(), "fault": None}
        try:
            return {**result, "differs": self.reloading.differences()}
        except (TabhubError, OSError) as error:
            return {**result, "differs": [], "fault": str(error)}

    def configure(self, plugin: str, settings: Json) -> Json:
        raise NotFound(f"There is no plugin called {plugin!r}.")

    def audit_entries(self, query: AuditQuery) -> list[bytes]:
        filters = {key: getattr(query, key) for key in ("plugin", "tool", "client", "success")}
        return self.audit.lines(query.limit, query.begin(), **filters)

    def hash_labelled(self, label: str) -> str | None:
        token = self.settings.mcp_server.auth_token
        if token and label_of(hash_of(token)) == label:
            return hash_of(token)
        return self.clients.hash_labelled(label) if self.clients and label else None
