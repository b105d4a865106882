"""Listening with TLS: a connection counts from its first byte, and has little time to finish.

uvicorn sees a connection only when it is encrypted, and would let whoever never finishes that have
all the sockets there are.
"""

import asyncio
import logging
import socket
import ssl
from typing import Any

import uvicorn

from tabhub.agents.http.listening import Listener
from tabhub.proxy.http_connections import UnauthenticatedConnection, UnauthenticatedCounts
from tabhub.proxy.switchboard import AUTHENTICATION_SECONDS

log = logging.getLogger(__name__)

PAUSE_SECONDS = 1.0
"""Before the next connection is taken, if the system has no more files for this process."""


class TlsListener(Listener):
    """uvicorn, behind a TLS of our own."""

    def __init__(
        self, config: uvicorn.Config, context: ssl.SSLContext, counts: UnauthenticatedCounts
    ) -> None:
        super().__init__(config)
        self._context = context
        self._counts = counts
        self._tasks: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.servers: list[Any] = []
        for listener in sockets or ():
            listener.setblocking(False)
            self._spawn(self._accept(listener))
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await super().shutdown(sockets)

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(listener)
            except OSError as error:
                log.warning("a connection was not taken: %s", error.strerror)
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            source = self._counts.admit(str(address[0]))
            if source is None:
                connection.close()
            else:
                self._spawn(self._encrypt(connection, source))

    async def _encrypt(self, connection: socket.socket, source: str) -> None:
        http = self._new_connection()
        http.count_as(source)
        seconds = AUTHENTICATION_SECONDS
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: http, connection, ssl=self._context, ssl_handshake_timeout=seconds
            )
        except OSError:
            # Scanners, and browsers that do not trust the certificate, end so all the time.
            connection.close()
        finally:
            if not http.is_made:
                http.leave()

    def _new_connection(self) -> UnauthenticatedConnection:
        state = {"server_state": self.server_state, "app_state": self.lifespan.state}
        made: UnauthenticatedConnection
        made = self.config.http_protocol_class(config=self.config, **state)  # type: ignore[assignment, call-arg]
        return made
