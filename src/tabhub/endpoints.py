"""The ways in for agents, and which path leads to which."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from tabhub.agents.mcp.backend import Backend
from tabhub.agents.mcp.gateway import GatewayBackend
from tabhub.agents.mcp.http import McpEndpoint, Refused
from tabhub.agents.mcp.listing import Listing
from tabhub.agents.mcp.product import ProductBackend
from tabhub.agents.mcp.sse import SseEndpoint
from tabhub.agents.openapi import OpenApi
from tabhub.agents.rates import Rates
from tabhub.agents.rest import Rest
from tabhub.agents.tab_groups import TabGroups
from tabhub.agents.tool_search import ToolSearch
from tabhub.audit.log import AuditLog
from tabhub.calls.guard import Guard
from tabhub.calls.runner import Runner
from tabhub.config.settings import Settings
from tabhub.hub.hub import Hub
from tabhub.session_ends import SessionEnds
from tabhub.store.rules import Rules
from tabhub.store.store import Store
from tabhub.store.tool_index import FullTextIndex
from tabhub.wire.asgi import App as AsgiApp


@dataclass
class Doors:
    """One runner behind all of them; who leaves does so by `session_ends`."""

    settings: Settings
    hub: Hub
    runner: Runner
    guard: Guard
    rules: Rules
    audit: AuditLog
    rates: Rates
    session_ends: SessionEnds
    store: Store
    refused: Refused
    served: Callable[[], list[str]]
    """Every path of the server, for the description of them."""

    def __post_init__(self) -> None:
        self.index = FullTextIndex(self.hub.tools)
        self._listing = Listing(self.hub.tools, self.guard, lambda: self.settings.toolsets)
        self._search = ToolSearch(self.hub.tools, self.index)
        product, gateway = self._backends()
        self._tell_news(product)
        self.mcp = self._endpoint(product, "sessions")
        self.gateway = self._endpoint(gateway, "gateway-sessions")
        self.sse = self._sse(product)
        self.session_ends.endpoints = self.mcp, self.gateway
        self.session_ends.sse = self.sse
        self.rest = self._rest()
        self.paths = self._paths()

    def at(self, path: str) -> AsgiApp | None:
        """What answers there; REST does everywhere below its own path."""
        return self.rest if path.startswith("/tools/") else self.paths.get(path)

    def close(self) -> None:
        self.index.close()

    def _backends(self) -> tuple[ProductBackend, GatewayBackend]:
        given = (
            self.hub,
            self.runner,
            self._listing,
            self._search,
            self.guard,
            self.audit,
            self.session_ends.release,
        )
        product = ProductBackend(*given)
        return product, GatewayBackend(*given, product.news)

    def _tell_news(self, product: ProductBackend) -> None:
        tools = self.hub.tools
        tools.on_refresh(self._listing.changed)
        tools.on_change(product.tools_changed)
        self.hub.tabs.on_change(product.tab_changed)
        self.rules.on_change(product.tools_changed)

    def _endpoint(self, backend: Backend, shelf: str) -> McpEndpoint:
        return McpEndpoint(
            backend,
            clock=time.monotonic,
            idle_seconds=self.settings.sessions.idle_minutes * 60,
            max_body=self.settings.limits.body_bytes,
            memory=self.store.shelf(shelf),
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

    def _rest(self) -> Rest:
        groups, most = TabGroups(self.hub.sessions, self.audit), self.settings.limits.body_bytes
        return Rest(self.runner, self._listing, self._search, groups, most)

    def _paths(self) -> dict[str, AsgiApp]:
        paths: dict[str, AsgiApp] = {
            "/mcp": self.mcp,
            "/mcp/": self.mcp,
            "/mcp/gateway": self.gateway,
            "/mcp/gateway/": self.gateway,
            "/tools": self.rest,
            "/tools/": self.rest,
            "/openapi.json": OpenApi(self.served),
        }
        if self.settings.mcp_server.enabled:
            paths |= {"/sse": self.sse.stream, "/message": self.sse.message}
        return paths
