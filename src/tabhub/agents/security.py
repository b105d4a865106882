"""Who may come in: the Host and Origin rules and the bearer secret, before anything is routed.

A page in a browser can send requests to loopback, and by DNS rebinding under a name of its own.
So a Host that is not loopback is refused, and so is any Origin but an extension's; the server's
own origin is let through because it serves no page that could use it.
"""

import hmac

import msgspec

from tabhub.agents.answers import send_json
from tabhub.errors import AccessError, TabhubError
from tabhub.wire.asgi import App, Header, Receive, Scope, Send

CALLER = "tabhub.caller"
"""Where in the scope the gatekeeper writes who is asking; None for nobody known."""

LOOPBACK = frozenset({b"127.0.0.1", b"localhost", b"[::1]"})
EXTENSION = b"chrome-extension://"
PUBLIC = frozenset({"/health"})
"""Paths that answer without a token, with less."""


class Gatekeeper:
    """An ASGI wrapper; with no secret it checks Host and Origin only."""

    def __init__(self, app: App, secret: str | None) -> None:
        self._app = app
        self._bearer = None if secret is None else b"bearer " + secret.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        try:
            _check_host(headers)
            _check_origin(headers)
            if scope["type"] == "http":
                scope[CALLER] = self._caller(headers, scope["path"])
        except TabhubError as error:
            await refuse(scope, send, error)
            return
        await self._app(scope, receive, send)

    def _caller(self, headers: dict[bytes, bytes], path: str) -> str | None:
        if self._bearer is None:
            return "main"
        given = headers.get(b"authorization", b"").strip()
        if hmac.compare_digest(_normal(given), self._bearer):
            return "main"
        if path in PUBLIC and not given:
            return None
        raise AccessError(
            "The bearer token is missing or wrong; it is in extension/auth.json of tabhub's home."
        )


async def refuse(scope: Scope, send: Send, error: TabhubError) -> None:
    """Answer with an error; a WebSocket that was not accepted is closed, which means 403."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": error.reason})
        return
    headers: list[Header] = []
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if error.allow is not None:
        headers.append((b"allow", error.allow.encode()))
    await send_json(send, error.status, msgspec.json.encode(error.to_http()), headers)


def _check_host(headers: dict[bytes, bytes]) -> None:
    host = headers.get(b"host", b"").lower()
    name = host if host.endswith(b"]") else host.rpartition(b":")[0] or host
    if name not in LOOPBACK:
        raise AccessError("The Host header must name this machine's loopback.", "foreign_host")


def _check_origin(headers: dict[bytes, bytes]) -> None:
    origin = headers.get(b"origin")
    if origin is None or origin.startswith(EXTENSION):
        return
    if origin != b"http://" + headers.get(b"host", b""):
        raise AccessError("Web pages may not talk to tabhub.", "foreign_origin")


def _normal(given: bytes) -> bytes:
    """The scheme's name is case-insensitive; the token is not."""
    scheme, _, token = given.partition(b" ")
    return scheme.lower() + b" " + token.strip()
