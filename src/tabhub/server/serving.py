"""Serving the app on its ports with uvicorn."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from tabhub.agents.http.connections import protocol

if TYPE_CHECKING:
    from tabhub.server.app import App

STOP_SECONDS = 3
KEEP_ALIVE_SECONDS = 75
"""Long enough for an agent to think between two calls."""


def _is_fault(record: logging.LogRecord) -> bool:
    """Whether uvicorn logs a real fault: a WebSocket refused with a response is none."""
    return "returned without completing handshake" not in record.getMessage()


class _Uvicorn(uvicorn.Server):
    """uvicorn without its clock and its signal handlers, which the command line installs."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._leaving = asyncio.Event()

    async def main_loop(self) -> None:
        # uvicorn's own loop wakes ten times a second to see whether it should exit.
        await self.on_tick(0)
        await self._leaving.wait()

    def leave(self) -> None:
        self.should_exit = True
        self._leaving.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Server:
    """The app on one port, or on two: the second one is for clients of HTTP+SSE."""

    def __init__(self, app: "App", listener: socket.socket, second: socket.socket | None = None):
        self.app = app
        self.port: int = listener.getsockname()[1]
        app.report.port = self.port
        app.report.sse_port = None if second is None else second.getsockname()[1]
        # Any page could fill the log by trying to connect.
        logging.getLogger("uvicorn.error").addFilter(_is_fault)
        self._listeners = [listener] if second is None else [listener, second]
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                app.asgi,
                loop="none",
                http=protocol(app.connections),
                ws="websockets-sansio",
                ws_max_size=app.settings.limits.ws_bytes,
                ws_per_message_deflate=False,
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=STOP_SECONDS,
            )
        )

    async def serve(self) -> None:
        """Run until `stop` is called."""
        reaper = asyncio.create_task(self.app.look_after())
        try:
            await self._uvicorn.serve(sockets=self._listeners)
        finally:
            reaper.cancel()
            self.app.close()

    async def stop(self) -> None:
        for endpoint in self.app.session_ends.endpoints:
            endpoint.close()
        self.app.sse.close()
        self._uvicorn.leave()


def listen(host: str, port: int) -> socket.socket:
    """A bound socket; port 0 lets the system choose."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sees that it is TCP and sends small responses at once.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener
