"""The endpoints for agents: MCP, its gateway, HTTP+SSE and REST, on one runner."""

import time
from dataclasses import dataclass

from tabhub.agents.http.messages import Refused
from tabhub.agents.http.rates import Rates
from tabhub.agents.mcp.backend import Backend
from tabhub.agents.mcp.gateway import GatewayBackend
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.agents.mcp.product import LOGGER, ProductBackend
from tabhub.agents.mcp.sse import SseEndpoint
from tabhub.agents.rest import RestEndpoint
from tabhub.agents.tab_groups import TabGroups
from tabhub.agents.tool_search import Listing, ToolSearch
from tabhub.audit.log import AuditLog
from tabhub.calls.authorization import Guard
from tabhub.calls.runner import Runner
from tabhub.config.settings import Settings
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.server.session_ends import SessionEnds
from tabhub.store.active_rules import ActiveRules
from tabhub.store.store import Store
from tabhub.store.tool_index import FullTextIndex
from tabhub.wire.asgi import App as AsgiApp


@dataclass
class Endpoints:
    """Builds the endpoints, and registers them with `session_ends`, which ends their sessions."""

    settings: Settings
    hub: PageHub
    runner: Runner
    guard: Guard
    rules: ActiveRules
    audit: AuditLog
    rates: Rates
    session_ends: SessionEnds
    store: Store
    refused: Refused

    def __post_init__(self) -> None:
        self.index = FullTextIndex(self.hub.tools)
        self._listing = Listing(self.hub.tools, self.guard, lambda: self.settings.toolsets)
        self._search = ToolSearch(self.hub.tools, self.index)
        product, gateway = self._backends()
        self._follow_changes(product)
        self.mcp = self._endpoint(product, "sessions")
        self.gateway = self._endpoint(gateway, "gateway-sessions")
        self.sse = self._sse(product)
        self.session_ends.endpoints = self.mcp, self.gateway
        self.session_ends.sse = self.sse
        self.hub.tabs.on_change(self._tell_closed)
        self.rest = self._rest()

    @property
    def handlers(self) -> dict[str, AsgiApp | None]:
        """Handlers by their names in the route table; None where the settings switch one off."""
        has_sse = self.settings.mcp_server.enabled
        return {
            "mcp": self.mcp,
            "gateway": self.gateway,
            "sse_stream": self.sse.stream if has_sse else None,
            "sse_message": self.sse.message if has_sse else None,
            **self.rest.handlers,
        }

    def close(self) -> None:
        self.index.close()

    def _backends(self) -> tuple[ProductBackend, GatewayBackend]:
        parts = (
            self.hub,
            self.runner,
            self._listing,
            self._search,
            self.guard,
            self.audit,
            self.session_ends.release,
            self.hub.pages.capabilities,
        )
        product = ProductBackend(*parts)
        return product, GatewayBackend(*parts, product.news)

    def _follow_changes(self, product: ProductBackend) -> None:
        tools = self.hub.tools
        tools.on_refresh(self._listing.changed)
        tools.on_change(product.tools_changed)
        self.hub.tabs.on_change(product.tab_changed)
        self.rules.on_change(product.tools_changed)

    def _tell_closed(self, change: str, tab: int) -> None:
        """Log to a session that one of its tabs has closed; a call in that tab says it itself."""
        owner = self.hub.ownership.owner(tab) if change == "closed" else None
        if owner is None or self.runner.running.is_in(tab, owner):
            return
        for sessions in (self.mcp.sessions, self.gateway.sessions, self.sse.sessions):
            if (session := sessions.find(owner)) is not None:
                told = {"event": "tab_closed", "message": f"Tab {tab} has closed.", "tabId": tab}
                session.log("notice", told, LOGGER)

    def _endpoint(self, backend: Backend, collection: str) -> McpEndpoint:
        return McpEndpoint(
            backend,
            clock=time.monotonic,
            idle_seconds=self.settings.sessions.idle_minutes * 60,
            max_body=self.settings.limits.body_bytes,
            store=self.store.collection(collection),
            refused=self.refused,
            admit=self.rates.session,
        )

    def _sse(self, backend: Backend) -> SseEndpoint:
        return SseEndpoint(
            backend,
            clock=time.monotonic,
            max_body=self.settings.limits.body_bytes,
            refused=self.refused,
            admit=self.rates.session,
            throttle=self.rates.message,
            groups=lambda: self.settings.sessions.group_on_connect,
        )

    def _rest(self) -> RestEndpoint:
        groups = TabGroups(self.hub.sessions, self.audit)
        max_body = self.settings.limits.body_bytes
        return RestEndpoint(self.runner, self._listing, self._search, groups, max_body)
