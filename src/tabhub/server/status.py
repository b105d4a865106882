"""The status of the server, as `/health`, `/settings` and `/metrics` show it."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tabhub import __version__
from tabhub.agents.http.rates import Rates
from tabhub.agents.metrics import Metrics, call_metrics, labelled, single
from tabhub.audit.log import AuditLog
from tabhub.browser.link.browsers import Browser, Browsers
from tabhub.calls.approvals import Approvals
from tabhub.calls.authorization import Guard
from tabhub.calls.running import RunningCalls
from tabhub.config.clients import MAIN, Client
from tabhub.config.keys import HIDDEN, plain
from tabhub.config.settings import Settings
from tabhub.errors import TabhubError
from tabhub.hub.hub import Hub
from tabhub.hub.tools import ToolRegistry
from tabhub.server.plugin_status import PluginReport
from tabhub.store.active_rules import ActiveRules
from tabhub.store.store import VERSION

Json = dict[str, Any]

BROWSER = "browser"

PRIVATE = frozenset(
    {
        *(
            "pid",
            "programMissing",
            "browsers",
            "refusedBrowsers",
            "agentNames",
            "asleepNames",
            "clientsSeen",
        ),
        *("waitingPages", "waitingExtensions", "lastReloadError", "managedBrowser", "proxy"),
        *("auditLog", "approvalsWaiting"),
        *("failedPlugins", "discoveryErrors", "trustedPlugins"),
        "disabledBrowserTools",  # the person's; an agent sees its own in its list of tools
    }
)
"""What `/health` does not show to an agent: it concerns the person or other agents."""


class ToolReport:
    """Counts and names of the tools, computed once until something changes."""

    def __init__(self, tools: ToolRegistry, guard: Guard) -> None:
        self._tools = tools
        self._guard = guard
        self._summary: Json | None = None

    def changed(self) -> None:
        self._summary = None

    def summary(self) -> Json:
        if self._summary is None:
            self._summary = self._compute()
        return self._summary

    def _compute(self) -> Json:
        browser = [tool for tool in self._tools if tool.plugin == BROWSER]
        plugins = [tool for tool in self._tools if tool.plugin not in ("", BROWSER)]
        off = [tool.name for tool in browser if self._guard.is_off(tool, MAIN)]
        return {
            "toolCount": len(self._tools),
            "browserToolCount": len(browser),
            "pluginToolCount": len(plugins),
            "browserToolNames": [tool.name for tool in browser],
            "disabledBrowserTools": off,
        }


class Reloads:
    """How often the settings were reloaded, and how the last reload went."""

    def __init__(self) -> None:
        self._count = 0
        self._timestamp = 0
        self._duration = 0
        self._fault: str | None = None
        self.signal: str | None = None
        """The signal that makes the server reload; None where the system has no signals."""

    def note(self, started: float, fault: TabhubError | None = None) -> int:
        """Count a reload that began at this `perf_counter` time; returns its milliseconds."""
        self._count += fault is None
        self._timestamp = int(time.time() * 1000)
        self._duration = int((time.perf_counter() - started) * 1000)
        self._fault = None if fault is None else fault.message
        return self._duration

    def summary(self) -> Json:
        return {
            "reloadCount": self._count,
            "lastReloadTimestamp": self._timestamp,
            "lastReloadDurationMs": self._duration,
            "lastReloadError": self._fault,
            "reloadSignal": self.signal,
        }


@dataclass
class Report:
    """Collects the status from the parts of the server."""

    settings: Settings
    hub: Hub
    browsers: Browsers
    rules: ActiveRules
    audit: AuditLog
    rates: Rates
    running: RunningCalls
    approvals: Approvals
    tools: ToolReport
    plugins: PluginReport
    sessions: Callable[[], dict[str, int]]
    """How many sessions clients have opened, by endpoint."""
    waiting_pages: Callable[[], list[Json]]
    """Pages that wait to be paired."""
    clients_seen: Callable[[], dict[str, float]]
    """When each client was seen last, in seconds since 1970."""
    waiting_extensions: Callable[[], list[Json]]
    """Extensions that wait to be paired by a code."""
    reloads: Reloads = field(default_factory=Reloads)
    port: int = 0
    """The port that the server listens on."""
    sse_port: int | None = None
    """The port of the second listener, if there is one."""
    starting: bool = False
    """Whether the browser that `start` should open is not ready yet."""
    managed_browser: Callable[[], Json | None] = lambda: None
    """The state of the browser that `start` opened, and how often it has crashed."""
    proxy: Callable[[], Json | None] = lambda: None
    """Which browsers are reached through the proxy; None without one."""
    demo: str | None = None
    """The address of the demo shop, if it is served."""
    _started: float = field(default_factory=time.monotonic)

    def health(self) -> Json:
        """What `/health` adds for the person."""
        browsers, agents = self.browsers.all(), self.hub.sessions.all()
        sessions = sum(self.sessions().values())
        return {
            "version": __version__,
            "sdkVersion": __version__,
            "mode": "dev" if self.settings.dev else "production",
            "pid": os.getpid(),
            "programMissing": not os.path.exists(sys.executable),
            "starting": self.starting,
            "managedBrowser": self.managed_browser(),
            "proxy": self.proxy(),
            "extensionConnected": bool(browsers),
            "extensionConnections": len(browsers),
            "browsers": [self._browser(browser) for browser in browsers],
            "approvalsWaiting": self.approvals.waiting,
            "refusedBrowsers": [
                {"id": id, "mismatch": found} for id, found in self.browsers.refused().items()
            ],
            "mcpClients": sessions,
            "activeSessions": sessions,
            "ssePort": self.sse_port,
            "agents": len(agents),
            "agentsAsleep": sum(agent.asleep for agent in agents),
            "agentNames": [agent.shown for agent in agents],
            "asleepNames": [agent.shown for agent in agents if agent.asleep],
            "clientsSeen": {name: int(at * 1000) for name, at in self.clients_seen().items()},
            **self.plugins.health(),
            **self.tools.summary(),
            "tabs": len(self.hub.tabs),
            "waitingPages": self.waiting_pages(),
            "waitingExtensions": self.waiting_extensions(),
            "demo": self.demo,
            "skipPermissions": self.rules.permissions.skip,
            "stopped": self.hub.sessions.stopped,
            "uptime": int(self._uptime),
            **self.reloads.summary(),
            "stateSchemaVersion": VERSION,
            "auditSummary": self.audit.counts.summary(time.time()),
            "auditLog": self.audit.state(),
        }

    def settings_in_force(self) -> Json:
        """The settings in force, with the actual ports; without the token and those of plugins."""
        settings = plain(self.settings)
        of_plugins = HIDDEN if settings["settings"] else {}
        mcp_server = settings["mcpServer"]
        has_token = mcp_server["authToken"] is not None
        hidden = {"authToken": HIDDEN if has_token else None, "port": self.sse_port}
        shown = {"port": self.port, "mcpServer": {**mcp_server, **hidden}, "settings": of_plugins}
        return {**settings, **shown}

    def client_health(self, client: Client) -> Json:
        """What `/health` adds for an agent."""
        health = {**self.health(), **self.plugins.client_health()}
        return {"client": client.name, **{key: health[key] for key in health.keys() - PRIVATE}}

    def metrics(self) -> Metrics:
        """What `/metrics` shows."""
        browsers = self.browsers.all()
        links = Counter({"managed": 0, "personal": 0})
        links.update("managed" if browser.is_managed else "personal" for browser in browsers)
        pending = sum(browser.connection.pending for browser in browsers)
        throttled, audit = self.rates.refused, self.audit.state()
        return [
            *call_metrics(self.audit.counts),
            labelled("version", "tabhub_info", "Version of the server.", {__version__: 1}),
            single("tabhub_uptime_seconds", "Seconds since the start.", self._uptime),
            labelled("kind", "tabhub_links", "Connected browsers.", links),
            labelled("kind", "tabhub_sessions", "Sessions of agents.", self._session_kinds()),
            single("tabhub_calls_in_flight", "Running calls.", len(self.running)),
            single("tabhub_commands_queued", "Commands that wait for a browser.", pending),
            single(
                "tabhub_approvals_waiting", "Calls that wait for approval.", self.approvals.waiting
            ),
            labelled("kind", "tabhub_throttled", "Over a rate.", throttled, is_counter=True),
            single("tabhub_audit_waiting", "Lines that wait to be written.", audit["waiting"]),
            single("tabhub_audit_write_failures", "Lost lines.", audit["lost"], is_counter=True),
        ]

    def _session_kinds(self) -> dict[str, int]:
        """Sessions by endpoint, and those that all calls of a token share."""
        common = sum(agent.is_common for agent in self.hub.sessions.all())
        return {**self.sessions(), "token": common}

    def _browser(self, browser: Browser) -> Json:
        info = browser.info
        return {
            "id": browser.id,
            "name": info.name,
            "version": info.version,
            "connectedAt": browser.connected_at,
            "ready": browser.ready,
            "kind": info.kind,
            "isDefault": browser is self.browsers.default(),
            "remote": browser.is_remote,
            "panels": browser.panels or 0,
            "mismatch": self.browsers.mismatch_of(browser.id),
        }

    @property
    def _uptime(self) -> float:
        return time.monotonic() - self._started
