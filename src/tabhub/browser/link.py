"""The `/ws` endpoint, where extensions connect. Raw ASGI."""

import hmac
from collections.abc import Awaitable, Callable
from contextlib import suppress

from tabhub import __version__
from tabhub.browser.browsers import Browsers
from tabhub.browser.connection import Connection
from tabhub.wire import link
from tabhub.wire.asgi import Receive, Scope, Send

UNNAMED = "default"
"""The profile of a client that does not say which it is."""
LONGEST_PROFILE = 100


class LinkEndpoint:
    """Lets extensions in that know the secret, and keeps one connection a profile."""

    def __init__(self, browsers: Browsers, secret: str | None, max_bytes: int) -> None:
        self._browsers = browsers
        self._max_bytes = max_bytes
        self._secret = secret
        self._closers: dict[Connection, Callable[[int, str], Awaitable[None]]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        offered: list[str] = scope["subprotocols"]
        if not self._knows_secret(offered):
            await send({"type": "websocket.close", "code": 1008, "reason": "not_authenticated"})
            return
        await send({"type": "websocket.accept", "subprotocol": offered[0]})
        await self._serve(_profile(offered), receive, send)

    def _knows_secret(self, offered: list[str]) -> bool:
        if not offered or offered[0] not in link.SUBPROTOCOLS:
            return False
        if self._secret is None:
            return True
        given = offered[1] if len(offered) > 1 else ""
        return hmac.compare_digest(given.encode(), self._secret.encode())

    async def _serve(self, profile: str, receive: Receive, send: Send) -> None:
        connection = self._connect(profile, send)
        try:
            await self._welcome(profile, connection)
            while (event := await receive())["type"] == "websocket.receive":
                connection.receive(event.get("text") or event.get("bytes") or b"")
        finally:
            del self._closers[connection]
            self._browsers.leave(profile, connection)

    def _connect(self, profile: str, send: Send) -> Connection:
        async def send_text(text: str) -> None:
            await send({"type": "websocket.send", "text": text})

        async def close(code: int, reason: str) -> None:
            await send({"type": "websocket.close", "code": code, "reason": reason})

        connection = Connection(
            send_text,
            lambda sender, method, params: self._browsers.hear(profile, sender, method, params),
            self._max_bytes,
        )
        self._closers[connection] = close
        return connection

    async def _welcome(self, profile: str, connection: Connection) -> None:
        replaced = self._browsers.join(profile, connection)
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
                "plugins": [],
            },
        )


def _profile(offered: list[str]) -> str:
    return offered[2][:LONGEST_PROFILE] if len(offered) > 2 else UNNAMED
