"""The `/ws` endpoint, where extensions connect. Raw ASGI. Who comes here has shown the secret."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from tabhub import __version__
from tabhub.browser import checked
from tabhub.browser.browsers import Browsers
from tabhub.browser.connection import Connection
from tabhub.browser.desk import PanelRequests
from tabhub.config.settings import RecordingSettings
from tabhub.errors import ProtocolError
from tabhub.wire import link
from tabhub.wire.asgi import Receive, Scope, Send

UNNAMED = "default"
"""The profile of a client that does not say which it is."""
LONGEST_PROFILE = 100


class PageNews(Protocol):
    """Takes what extensions tell of the tools of pages."""

    def hear(self, profile: str, method: str, params: msgspec.Raw) -> None: ...

    def joined(self, profile: str) -> None:
        """A profile has a connection, or a new one; its pages will register anew."""

    def left(self, profile: str) -> None:
        """A profile has no connection any more."""


class LinkEndpoint:
    """Keeps one connection a profile, and hands each message to whom it concerns."""

    def __init__(
        self,
        browsers: Browsers,
        panel_requests: PanelRequests,
        pages: PageNews,
        max_bytes: int,
        recording: RecordingSettings,
    ) -> None:
        self._browsers = browsers
        self._panel_requests = panel_requests
        self._pages = pages
        self._max_bytes = max_bytes
        self._recording = recording
        self._closers: dict[Connection, Callable[[int, str], Awaitable[None]]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        offered: list[str] = scope["subprotocols"]
        if not offered or offered[0] not in link.SUBPROTOCOLS:
            await send({"type": "websocket.close", "code": 1008, "reason": "not_authenticated"})
            return
        await send({"type": "websocket.accept", "subprotocol": offered[0]})
        await self._serve(_profile(offered), receive, send)

    async def _serve(self, profile: str, receive: Receive, send: Send) -> None:
        connection = self._connect(profile, send)
        try:
            await self._welcome(profile, connection)
            while (event := await receive())["type"] == "websocket.receive":
                if connection.closed:
                    break
                connection.receive(event.get("text") or event.get("bytes") or b"")
        finally:
            del self._closers[connection]
            if self._browsers.is_current(profile, connection):
                self._pages.left(profile)
            self._browsers.leave(profile, connection)

    def _connect(self, profile: str, send: Send) -> Connection:
        async def send_text(text: str) -> None:
            await send({"type": "websocket.send", "text": text})

        async def close(code: int, reason: str) -> None:
            await send({"type": "websocket.close", "code": code, "reason": reason})

        connection = Connection(
            send_text,
            lambda sender, method, params: self._hear(profile, sender, method, params),
            self._max_bytes,
        )
        self._closers[connection] = close
        connection.hang_up = lambda: close(link.CUT, "cut")
        return connection

    def _hear(self, profile: str, sender: Connection, method: str, params: msgspec.Raw) -> Any:
        try:
            if self._browsers.hear(profile, sender, method, params):
                return None
            if not self._browsers.is_current(profile, sender):
                raise ProtocolError("This connection was replaced by a newer one.")
            if method.startswith("browser/"):
                return self._pages.hear(profile, method, params)
            return self._panel_requests.hear(profile, method, params)
        except msgspec.DecodeError as error:
            raise ProtocolError(f"{method}: {error}.", "invalid_params") from None

    async def _welcome(self, profile: str, connection: Connection) -> None:
        replaced = self._browsers.join(profile, connection)
        self._pages.joined(profile)
        if replaced is not None:
            replaced.close()
            with suppress(OSError):
                await self._closers[replaced](link.REPLACED, "replaced")
        await connection.tell(
            "sync.full",
            {
                "protocol": link.PROTOCOL,
                "server": {"name": "tabhub", "version": __version__},
                "maxBytes": self._max_bytes,
                "recording": self._recording,
                "plugins": [],
                **checked.greeting(),
            },
        )


def _profile(offered: list[str]) -> str:
    return offered[2][:LONGEST_PROFILE] if len(offered) > 2 else UNNAMED
