"""Access control: the Host and Origin rules and the bearer token, before a request is routed.

A page in a browser can send requests to loopback, and by DNS rebinding under a name of its own.
So these are refused: a Host that is not loopback, an Origin that is not an extension's, and every
request that the browser marks as made by a page of another site. The server's own origin is
allowed, because the server serves no page that could use it. Origins that the settings name may
use the endpoints for agents, and nothing else. `/page` is for pages and checks their origins
itself. The route table says which callers may use a path.

The main secret belongs to the person and opens everything. A client token belongs to an agent: it
opens what agents need, and nothing that could grant a permission.
"""

import hmac
import logging
from collections.abc import Callable
from contextlib import suppress

from tabhub.agents.http.connections import SLOT
from tabhub.agents.http.messages import CALLER, refuse
from tabhub.agents.http.routing import ROUTE, Access, RouteTable
from tabhub.calls.ports import AuditSink, incident
from tabhub.config.clients import MAIN, Client
from tabhub.config.secret import Challenges
from tabhub.config.settings import Origins
from tabhub.errors import AccessError, Forbidden, Internal, TabhubError
from tabhub.wire.asgi import App, Header, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

LOOPBACK = frozenset({b"127.0.0.1", b"localhost", b"[::1]"})
EXTENSION = b"chrome-extension://"
OUR_EXTENSION = EXTENSION + b"bnijbchbpfemkjpdjnamphipeaejgjni"
"""The key in the extension's manifest gives it this id."""
OTHER_SITES = frozenset({b"cross-site", b"same-site"})
"""Values of Sec-Fetch-Site for requests of pages on other sites, images and forms included."""

CORS_METHODS = b"GET, POST, DELETE, OPTIONS"
CORS_REQUEST_HEADERS = (
    b"Accept, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, MCP-Protocol-Version, "
    b"Mcp-Method, Mcp-Name, Mcp-Session-Id, X-Tabhub-Group"
)
CORS_RESPONSE_HEADERS = b"Allow, Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Session-Id"
CORS_MAX_AGE_SECONDS = b"600"
PARAM_HEADER = b"mcp-param-"
"""Prefix of the headers that repeat arguments; CORS needs each of them named."""

Headers = dict[bytes, bytes]
FindClient = Callable[[str], Client | None]


class AccessControl:
    """An ASGI wrapper; with no secret it checks Host and Origin only."""

    def __init__(
        self,
        app: App,
        routes: RouteTable,
        secret: str | None,
        find_client: FindClient,
        audit: AuditSink,
        challenges: Challenges,
    ) -> None:
        self.app = app
        """Gets the requests that are allowed, with their caller and route in the scope."""
        self._routes = routes
        self._secret = None if secret is None else secret.encode()
        self._find_client = find_client
        self._audit = audit
        self._challenges = challenges
        self.origins = Origins()
        """Pages that may use the endpoints for agents."""
        self.seen: Callable[[str], None] = lambda client: None
        """Takes the name of each client that uses an endpoint for agents."""

    def take_secret(self, secret: str) -> None:
        """Replace the main secret; a server without one stays without."""
        if self._secret is not None:
            self._secret = secret.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = dict(scope["headers"])
        try:
            _check_host(headers)
            scope[ROUTE] = route = self._routes.find(scope)
            access = Access.PERSON if route is None else route.access
            if access is Access.PAGES:
                scope[CALLER] = None
                await self.app(scope, receive, send)
                return
            if b"origin" in headers and self._is_allowed(scope, access, headers[b"origin"]):
                send = _readable_by(headers[b"origin"], send)
                if _is_preflight(scope, headers):
                    await _answer_preflight(headers, send)
                    return
            else:
                self._check_origin(scope, headers)
            caller = self._caller(scope, access, headers)
            _take_slot(scope, caller, route is None or route.has_reserve)
            scope[CALLER] = caller
            if caller is not None and access is Access.CLIENTS:
                self.seen(caller.name)
            await self.app(scope, receive, send)
        except TabhubError as error:
            await refuse(scope, send, error)
        except Exception:
            log.exception("a request to %s failed", scope["path"])
            # A response that has begun cannot become an error.
            with suppress(Exception):
                await refuse(scope, send, Internal("Something went wrong inside tabhub."))

    def _is_allowed(self, scope: Scope, access: Access, origin: bytes) -> bool:
        """Whether the settings let pages of this origin use this path."""
        is_open = scope["type"] == "http" and access.is_for_clients
        return is_open and origin in self.origins

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        """Refuse pages: browsers send their origin, or at least Sec-Fetch-Site."""
        origin = headers.get(b"origin")
        if origin is not None and self._is_extension(origin):
            return
        # No page speaks for a person, not even one that this port once served.
        own = None if scope["type"] == "websocket" else b"http://" + headers.get(b"host", b"")
        if origin not in (None, own) or headers.get(b"sec-fetch-site") in OTHER_SITES:
            raise AccessError("Web pages may not talk to tabhub.", "foreign_origin")

    def _is_extension(self, origin: bytes) -> bool:
        """Any extension must show the secret; on a server without one, only ours is allowed."""
        return origin == OUR_EXTENSION if self._secret is None else origin.startswith(EXTENSION)

    def _caller(self, scope: Scope, access: Access, headers: Headers) -> Client | None:
        if self._secret is None:
            return MAIN
        is_link = scope["type"] == "websocket"
        token = (_offered_token(scope) if is_link else b"") or _bearer_token(headers)
        if hmac.compare_digest(token, self._secret):
            return MAIN
        if is_link and self._answers_challenge(scope, token):
            return MAIN
        client = self._find_client(token.decode("latin-1")) if token else None
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

    def _answers_challenge(self, scope: Scope, token: bytes) -> bool:
        secret = (self._secret or b"").decode()
        return self._challenges.answers(token.decode("latin-1"), secret, scope["server"][1])


def record_refusal(audit: AuditSink, scope: Scope, error: TabhubError) -> None:
    """Record in the audit log that a known client tried something that it may not do."""
    attempt = f"{scope.get('method', 'WebSocket')} {scope['path']}"
    audit.record(incident("door", scope[CALLER].name, attempt, error=error))


def _take_slot(scope: Scope, caller: Client | None, has_reserve: bool) -> None:
    """Assign the connection to the caller; raises if that client has too many."""
    slot = scope.get(SLOT)
    if slot is not None and caller is not None:
        slot.take(caller, urgent=has_reserve)


def _offered_token(scope: Scope) -> bytes:
    """A browser's WebSocket cannot send headers: the token is the second subprotocol."""
    offered: list[str] = scope["subprotocols"]
    return offered[1].encode("latin-1", "replace") if len(offered) > 1 else b""


def _bearer_token(headers: Headers) -> bytes:
    """The scheme's name is case-insensitive; the token is not."""
    scheme, _, token = headers.get(b"authorization", b"").strip().partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def _check_host(headers: Headers) -> None:
    host = headers.get(b"host", b"").lower()
    name = host if host.endswith(b"]") else host.rpartition(b":")[0] or host
    if name not in LOOPBACK:
        raise AccessError("The Host header must name this machine's loopback.", "foreign_host")


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    return scope.get("method") == "OPTIONS" and b"access-control-request-method" in headers


async def _answer_preflight(headers: Headers, send: Send) -> None:
    """Say what a page may send; the token comes with the request itself."""
    allowed: list[Header] = [
        (b"content-length", b"0"),
        (b"access-control-allow-methods", CORS_METHODS),
        (b"access-control-allow-headers", _allowed_headers(headers)),
        (b"access-control-max-age", CORS_MAX_AGE_SECONDS),
    ]
    if headers.get(b"access-control-request-private-network") == b"true":
        allowed.append((b"access-control-allow-private-network", b"true"))
    await send({"type": "http.response.start", "status": 204, "headers": allowed})
    await send({"type": "http.response.body", "body": b""})


def _allowed_headers(headers: Headers) -> bytes:
    requested = headers.get(b"access-control-request-headers", b"").lower().split(b",")
    params = sorted({name.strip() for name in requested if name.strip().startswith(PARAM_HEADER)})
    return b", ".join([CORS_REQUEST_HEADERS, *params])


def _readable_by(origin: bytes, send: Send) -> Send:
    """Add the headers that let pages of this origin read the response."""
    headers = [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", CORS_RESPONSE_HEADERS),
        (b"vary", b"Origin"),
    ]

    async def readable(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *headers]}
        await send(message)

    return readable
