"""The composition root: builds everything, connects it, and owns the order of start and stop."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from tabhub import __version__
from tabhub.agents.admin import Admin
from tabhub.agents.bounded import BoundedHttp
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.agents.mcp.product import ProductBackend
from tabhub.agents.security import Gatekeeper, refuse
from tabhub.browser.browsers import Browser, Browsers
from tabhub.browser.link import LinkEndpoint
from tabhub.calls.runner import Runner
from tabhub.config.settings import Settings
from tabhub.errors import NotFound
from tabhub.hub.sessions import AgentSessions
from tabhub.hub.tabs import Tabs
from tabhub.hub.tools import ToolRegistry
from tabhub.tools import catalog
from tabhub.tools.tool import SOURCE
from tabhub.wire.asgi import Receive, Scope, Send

log = logging.getLogger(__name__)

REAP_SECONDS = 30.0
STOP_SECONDS = 3
MOST_CONNECTIONS = 1000
MCP_PATHS = ("/mcp", "/mcp/")


class App:
    """The whole server as one ASGI application."""

    def __init__(self, settings: Settings, secret: str, *, auth: bool = True) -> None:
        self.settings = settings
        self.tools = ToolRegistry()
        self.tabs = Tabs()
        self.sessions = AgentSessions()
        self.browsers = Browsers(self.tabs, self.sessions)
        self.runner = Runner(
            self.tools,
            self.tabs,
            self.sessions,
            {SOURCE: catalog.BrowserSource(self.browsers)},
            time.monotonic,
            settings.limits,
        )
        self.tools.add(*(tool.entry() for tool in catalog.ALL))
        self.mcp = McpEndpoint(
            ProductBackend(self.tools, self.tabs, self.sessions, self.runner),
            clock=time.monotonic,
            idle_seconds=settings.sessions.idle_minutes * 60,
            max_body=settings.limits.body_bytes,
        )
        asked = secret if auth else None
        self._link = LinkEndpoint(self.browsers, asked, settings.limits.ws_bytes)
        self._admin = Admin(self, secret)
        self._started = time.monotonic()
        self.asgi = Gatekeeper(self._route, asked)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["path"] in MCP_PATHS:
            await self.mcp(scope, receive, send)
        else:
            await self._admin(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/ws":
            await self._link(scope, receive, send)
        else:
            await refuse(scope, send, NotFound(f"There is nothing at {scope['path']}."))

    def health(self) -> dict[str, Any]:
        """What `/health` adds for those who have the secret."""
        browsers = self.browsers.all()
        return {
            "version": __version__,
            "pid": os.getpid(),
            "extensionConnected": bool(browsers),
            "extensionConnections": len(browsers),
            "browsers": [_described(browser) for browser in browsers],
            "mcpClients": len(self.mcp.sessions),
            "toolCount": len(self.tools),
            "tabs": len(self.tabs),
            "uptime": int(time.monotonic() - self._started),
        }

    def reload_extensions(self) -> int:
        return self.browsers.tell_all("extension.reload", {})

    async def reap_sessions(self) -> None:
        """End idle sessions, for ever."""
        while True:
            await asyncio.sleep(REAP_SECONDS)
            for id in self.mcp.sessions.reap():
                log.info("session %s was idle and has been ended", id)


class _Uvicorn(uvicorn.Server):
    """uvicorn without its signal handlers: whoever starts the server handles signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Server:
    """The app on a port."""

    def __init__(self, app: App, listener: socket.socket) -> None:
        self.app = app
        self.port: int = listener.getsockname()[1]
        self._listener = listener
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                app.asgi,
                loop="none",
                http=BoundedHttp,
                ws="websockets-sansio",
                ws_max_size=app.settings.limits.ws_bytes,
                ws_per_message_deflate=False,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=STOP_SECONDS,
            )
        )

    async def serve(self) -> None:
        """Run until `stop` is called."""
        reaper = asyncio.create_task(self.app.reap_sessions())
        try:
            await self._uvicorn.serve(sockets=[self._listener])
        finally:
            reaper.cancel()

    async def stop(self) -> None:
        self.app.mcp.close()
        self._uvicorn.should_exit = True


def _described(browser: Browser) -> dict[str, Any]:
    info = browser.info
    return {
        "id": browser.id,
        "name": info.name,
        "version": info.version,
        "connectedAt": browser.connected_at,
        "ready": browser.ready,
    }


def listen(host: str, port: int) -> socket.socket:
    """A bound socket; port 0 lets the system choose."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    return listener
