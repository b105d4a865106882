"""How uvicorn serves our ports: one way for the server and for the proxy."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from tabhub.system.ports import set_sharing
from tabhub.wire.asgi import App

STOP_SECONDS = 3


class Listener(uvicorn.Server):
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


def uvicorn_config(app: App, **more: Any) -> uvicorn.Config:
    """What all our ports have in common."""
    # Any page could fill the log by trying to connect.
    logging.getLogger("uvicorn.error").addFilter(_is_fault)
    return uvicorn.Config(
        app,
        loop="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=STOP_SECONDS,
        **more,
    )


def _is_fault(record: logging.LogRecord) -> bool:
    """Whether uvicorn logs a real fault: a WebSocket refused with a response is none."""
    return "returned without completing handshake" not in record.getMessage()


def listen(host: str, port: int, backlog: int = 128, is_shared: bool = False) -> socket.socket:
    """A bound socket; port 0 lets the system choose.

    Several shared ones listen on one port, and the system spreads what comes among them.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sees that it is TCP and sends small responses at once.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        set_sharing(listener, is_shared)
        listener.bind((host, port))
        listener.listen(backlog)
    except OSError:
        listener.close()
        raise
    return listener
