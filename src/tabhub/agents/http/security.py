"""Access control: the Host and Origin rules and the bearer token, before a request is routed.

A page in a browser can send requests to loopback, and by DNS rebinding under a name of its own.
So a Host that is not loopback is refused, and so is any Origin but an extension's, and whatever a
browser says was made by a page of another site; the server's own origin is let through because it
serves no page that could use it. Origins that the settings name reach the endpoints for agents,
and nothing else. `/page` is for pages, and looks at their origins itself. Which path is open to
whom stands in the route table.

The main secret is the person's and opens everything. A client token is an agent's: it opens what
agents need, and nothing by which anything could be allowed.
"""

import hmac
import logging
from collections.abc import Callable
from contextlib import suppress

from tabhub.agents.http.connections import SLOT
from tabhub.agents.http.messages import CALLER, refuse
from tabhub.agents.routes import ROUTE, Access, find
from tabhub.calls.ports import AuditSink, incident
from tabhub.config.clients import MAIN, Client
from tabhub.config.secret import Challenges
from tabhub.config.settings import Origins
from tabhub.errors import AccessError, Forbidden, Internal, TabhubError
from tabhub.wire.asgi import App, Header, Message, Receive, Scope, Send

METHODS = b"GET, POST, DELETE, OPTIONS"
HEADERS = (
    b"Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, MCP-Protocol-Version, "
    b"Mcp-Method, Mcp-Name, Mcp-Session-Id, X-Tabhub-Group"
)
SHOWN = b"Allow, Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Session-Id"
REMEMBERED_SECONDS = b"600"
CUSTOM = b"mcp-param-"
"""What headers begin with that repeat arguments; a browser wants each of them named."""


def is_preflight(scope: Scope, headers: dict[bytes, bytes]) -> bool:
    return scope.get("method") == "OPTIONS" and b"access-control-request-method" in headers


async def answer_preflight(headers: dict[bytes, bytes], send: Send) -> None:
    """Say what a page may send; the token comes with the request itself."""
    allowed: list[Header] = [
        (b"content-length", b"0"),
        (b"access-control-allow-methods", METHODS),
        (b"access-control-allow-headers", _headers(headers)),
        (b"access-control-max-age", REMEMBERED_SECONDS),
    ]
    if headers.get(b"access-control-request-private-network") == b"true":
        allowed.append((b"access-control-allow-private-network", b"true"))
    await send({"type": "http.response.start", "status": 204, "headers": allowed})
    await send({"type": "http.response.body", "body": b""})


def showing(origin: bytes, send: Send) -> Send:
    """Let a page of that origin read what is sent."""
    more = [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", SHOWN),
        (b"vary", b"Origin"),
    ]

    async def shown(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return shown


def _headers(headers: dict[bytes, bytes]) -> bytes:
    asked = headers.get(b"access-control-request-headers", b"").lower().split(b",")
    custom = sorted({name.strip() for name in asked if name.strip().startswith(CUSTOM)})
    return b", ".join([HEADERS, *custom])


log = logging.getLogger(__name__)

LOOPBACK = frozenset({b"127.0.0.1", b"localhost", b"[::1]"})
EXTENSION = b"chrome-extension://"
OURS = EXTENSION + b"bnijbchbpfemkjpdjnamphipeaejgjni"
"""The key in the extension's manifest makes it so."""
FROM_PAGES = frozenset({b"cross-site", b"same-site"})
"""What a browser says of requests that pages elsewhere make, pictures and forms among them."""

FindClient = Callable[[str], Client | None]


class AccessControl:
    """An ASGI wrapper; with no secret it checks Host and Origin only."""

    def __init__(
        self,
        app: App,
        secret: str | None,
        find_client: FindClient,
        audit: AuditSink,
        challenges: Challenges,
    ) -> None:
        self.app = app
        """Gets the requests that are allowed, with their caller and route in the scope."""
        self._secret = None if secret is None else secret.encode()
        self._find_client = find_client
        self._audit = audit
        self._challenges = challenges
        self.origins = Origins()
        """Pages that may use what is for agents."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        try:
            _check_host(headers)
            scope[ROUTE] = route = find(scope)
            access = Access.PERSON if route is None else route.access
            if access is Access.PAGES:
                scope[CALLER] = None
                await self.app(scope, receive, send)
                return
            if b"origin" in headers and self._is_named(scope, access, headers[b"origin"]):
                send = showing(headers[b"origin"], send)
                if is_preflight(scope, headers):
                    await answer_preflight(headers, send)
                    return
            else:
                self._check_origin(headers)
            caller = self._caller(scope, access, headers)
            _take_slot(scope, caller, route is None or route.has_reserve)
            scope[CALLER] = caller
            await self.app(scope, receive, send)
        except TabhubError as error:
            await refuse(scope, send, error)
        except Exception:
            log.exception("a request to %s failed", scope["path"])
            # Nothing can be said in an answer that has begun.
            with suppress(Exception):
                await refuse(scope, send, Internal("Something went wrong inside tabhub."))

    def _is_named(self, scope: Scope, access: Access, origin: bytes) -> bool:
        is_open = scope["type"] == "http" and access.is_for_clients
        return is_open and origin in self.origins

    def _check_origin(self, headers: dict[bytes, bytes]) -> None:
        """Browsers name the origin of a page, or say at least that there is one."""
        origin = headers.get(b"origin")
        if origin is not None and self._is_extension(origin):
            return
        is_own = origin in (None, b"http://" + headers.get(b"host", b""))
        if not is_own or headers.get(b"sec-fetch-site") in FROM_PAGES:
            raise AccessError("Web pages may not talk to tabhub.", "foreign_origin")

    def _is_extension(self, origin: bytes) -> bool:
        """Any of them must show the secret; where nobody must, only ours is let in."""
        return origin == OURS if self._secret is None else origin.startswith(EXTENSION)

    def take_secret(self, secret: str) -> None:
        """Another secret opens everything from now on; where none is asked for, none will be."""
        if self._secret is not None:
            self._secret = secret.encode()

    def _answers(self, scope: Scope, given: bytes) -> bool:
        secret = (self._secret or b"").decode()
        return self._challenges.answers(given.decode("latin-1"), secret, scope["server"][1])

    def _caller(self, scope: Scope, access: Access, headers: dict[bytes, bytes]) -> Client | None:
        if self._secret is None:
            return MAIN
        is_link = scope["type"] == "websocket"
        given = (_offered(scope) if is_link else b"") or _bearer(headers)
        if hmac.compare_digest(given, self._secret):
            return MAIN
        if is_link and self._answers(scope, given):
            return MAIN
        client = self._find_client(given.decode("latin-1")) if given else None
        if client is None:
            if access is Access.ANYONE and b"authorization" not in headers:
                return None
            raise AccessError(
                "The token is missing or wrong. `tabhub client add NAME` makes one for an agent."
            )
        if not access.is_for_clients:
            scope[CALLER] = client
            error = Forbidden(
                f"The token of the client {client.name!r} does not open {scope['path']}."
            )
            record_refusal(self._audit, scope, error)
            raise error
        return client


def record_refusal(audit: AuditSink, scope: Scope, error: TabhubError) -> None:
    """Write into the audit that a known client tried what it may not do."""
    what = f"{scope.get('method', 'WebSocket')} {scope['path']}"
    audit.record(incident("door", scope[CALLER].name, what, error=error))


def _take_slot(scope: Scope, caller: Client | None, has_reserve: bool) -> None:
    """Give the connection to the caller; raises if that client has too many."""
    slot = scope.get(SLOT)
    if slot is not None and caller is not None:
        slot.take(caller, urgent=has_reserve)


def _offered(scope: Scope) -> bytes:
    """A browser's WebSocket has no headers of its own: the token is the second subprotocol."""
    offered: list[str] = scope["subprotocols"]
    return offered[1].encode("latin-1", "replace") if len(offered) > 1 else b""


def _bearer(headers: dict[bytes, bytes]) -> bytes:
    """The scheme's name is case-insensitive; the token is not."""
    scheme, _, token = headers.get(b"authorization", b"").strip().partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def _check_host(headers: dict[bytes, bytes]) -> None:
    host = headers.get(b"host", b"").lower()
    name = host if host.endswith(b"]") else host.rpartition(b":")[0] or host
    if name not in LOOPBACK:
        raise AccessError("The Host header must name this machine's loopback.", "foreign_host")
