"""Every path of the server in one table: who may use it, how, what answers, what OpenAPI says.

The router dispatches by this table, access control reads who may use a path, usage reads what
counts, and `/openapi.json` is written from it. An endpoint is a route here and a handler of that
name, which the composition root gives to the router.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import takewhile
from typing import ClassVar, Literal, cast
from urllib.parse import unquote

from tabhub.agents import path_items
from tabhub.agents.http.messages import CALLER, require_method
from tabhub.agents.path_items import Json
from tabhub.config.clients import Client
from tabhub.errors import NotFound
from tabhub.wire.asgi import App, Receive, Scope, Send

ROUTE = "tabhub.route"
"""Key of a scope: the route of its path, None if there is none."""
PARAMETERS = "path_params"
"""Key of a scope: what stands in the path for the names in braces."""
READS, TOOL_READS, TOOL_CALLS = ("GET", "HEAD"), ("GET", "HEAD", "OPTIONS"), ("POST", "OPTIONS")
MCP = ("GET", "POST", "DELETE")
UNDESCRIBED = frozenset({"HEAD", "OPTIONS"})
"""Methods that OpenAPI need not mention."""


class Access(Enum):
    """Which callers a path is open to."""

    ANYONE = "anyone"
    """Answers without a token, with less."""
    CLIENTS = "clients"
    """Any client token opens it."""
    PERSON = "person"
    """Only the main secret opens it; the same holds for paths that are not in the table."""
    PAGES = "pages"
    """Needs no token: the endpoint itself looks at the page's origin."""

    @property
    def is_for_clients(self) -> bool:
        return self in (Access.ANYONE, Access.CLIENTS)


@dataclass(frozen=True, kw_only=True)
class Route:
    """A path, the name of its handler, and who may use it."""

    kind: ClassVar[Literal["http", "websocket"]]
    path: str
    access: Access
    handler: str
    counts_as_use: bool = True
    """Whether a request keeps a server alive that ends when nobody uses it."""
    is_urgent: bool = False
    """Whether the person may need it in a flood, though others use it too."""

    @cached_property
    def has_reserve(self) -> bool:
        """Whether connections are reserved for it."""
        return self.access is Access.PERSON or self.is_urgent

    @cached_property
    def is_template(self) -> bool:
        """Whether parts of the path are names in braces, for which anything may stand."""
        return "{" in self.path

    @property
    def spellings(self) -> tuple[str, ...]:
        """The path, and what counts as the same one."""
        return (self.path,)


@dataclass(frozen=True, kw_only=True)
class WebSocketRoute(Route):
    kind = "websocket"


@dataclass(frozen=True, kw_only=True)
class HttpRoute(Route):
    """A path of HTTP, which OpenAPI describes."""

    kind = "http"
    methods: tuple[str, ...]
    openapi: Json = field(repr=False)
    aliases: tuple[str, ...] = ()
    """Other spellings of the path."""
    throttled: bool = False
    """Whether requests count against the rate of administration."""
    refuses_methods: bool = False
    """Whether the handler itself refuses other methods, in the shape of its own protocol."""

    def __post_init__(self) -> None:
        described = {method.upper() for method in self.openapi.keys() - {"parameters"}}
        if described != {*self.methods} - UNDESCRIBED:
            raise ValueError(f"OpenAPI does not describe the methods of {self.path}.")

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.path, *self.aliases)


def _reading(
    path: str,
    access: Access,
    handler: str,
    openapi: Json,
    *,
    counts_as_use: bool = True,
    is_urgent: bool = False,
) -> HttpRoute:
    return HttpRoute(
        path=path,
        access=access,
        handler=handler,
        methods=READS,
        openapi=openapi,
        counts_as_use=counts_as_use,
        is_urgent=is_urgent,
    )


def _changing(path: str, handler: str, openapi: Json) -> HttpRoute:
    """Something that the person does; a program must not do it without end."""
    return HttpRoute(
        path=path,
        access=Access.PERSON,
        handler=handler,
        methods=("POST",),
        openapi=openapi,
        throttled=True,
    )


def _mcp(path: str, handler: str, openapi: Json) -> HttpRoute:
    return HttpRoute(
        path=path,
        access=Access.CLIENTS,
        handler=handler,
        methods=MCP,
        openapi=openapi,
        aliases=(f"{path}/",),
        refuses_methods=True,
    )


def _for_clients(
    path: str, handler: str, methods: tuple[str, ...], openapi: Json, *aliases: str
) -> HttpRoute:
    return HttpRoute(
        path=path,
        access=Access.CLIENTS,
        handler=handler,
        methods=methods,
        openapi=openapi,
        aliases=aliases,
    )


ROUTES: tuple[Route, ...] = (
    _mcp("/mcp", "mcp", path_items.MCP),
    _mcp("/mcp/gateway", "gateway", path_items.GATEWAY),
    _for_clients("/sse", "sse_stream", ("GET",), path_items.SSE),
    _for_clients("/message", "sse_message", ("POST",), path_items.MESSAGE),
    _for_clients("/tools", "list_tools", TOOL_READS, path_items.TOOLS, "/tools/"),
    _for_clients("/tools/{name}", "get_tool", TOOL_READS, path_items.TOOL),
    _for_clients("/tools/{name}/call", "call_tool", TOOL_CALLS, path_items.CALL),
    _reading(
        "/health",
        Access.ANYONE,
        "health",
        path_items.HEALTH,
        counts_as_use=False,
        is_urgent=True,
    ),
    _reading("/openapi.json", Access.ANYONE, "openapi", path_items.OPENAPI),
    _reading("/metrics", Access.CLIENTS, "metrics", path_items.METRICS, counts_as_use=False),
    _reading("/ws-info", Access.PERSON, "ws_info", path_items.WS_INFO),
    _reading("/settings", Access.PERSON, "settings", path_items.SETTINGS),
    _reading("/audit", Access.PERSON, "audit", path_items.AUDIT),
    _changing("/reload", "reload", path_items.RELOAD),
    _changing("/extension/reload", "reload_extension", path_items.RELOAD_EXTENSION),
    _changing("/plugin-settings", "plugin_settings", path_items.PLUGIN_SETTINGS),
    WebSocketRoute(path="/ws", access=Access.PERSON, handler="link", counts_as_use=False),
    WebSocketRoute(path="/page", access=Access.PAGES, handler="page_worker"),
)

_http = [route for route in ROUTES if isinstance(route, HttpRoute)]
_EXACT: dict[str, Route] = {
    path: route for route in _http if not route.is_template for path in route.spellings
}
_WEBSOCKETS = {route.path: route for route in ROUTES if isinstance(route, WebSocketRoute)}
_TEMPLATES = [(route.path.split("/"), route) for route in _http if route.is_template]
_BEGINNINGS = {
    "/".join([*takewhile(lambda step: "{" not in step, steps), ""]): route
    for steps, route in _TEMPLATES
}
"""What the paths of templates begin with; one route stands for all that begin so."""


def find(scope: Scope) -> Route | None:
    """The route that decides who may use a path; what answers there, the router finds."""
    path: str = scope["path"]
    if scope["type"] == "websocket" and path in _WEBSOCKETS:
        return _WEBSOCKETS[path]
    return _EXACT.get(path) or _below(path)


def _below(path: str) -> Route | None:
    found = (route for begin, route in _BEGINNINGS.items() if path.startswith(begin))
    return next(found, None)


def _match(scope: Scope) -> Route | None:
    """The template that fits a path, whose parameters are put into the scope.

    The raw path is taken apart, so that a name may have any character.
    """
    steps = [unquote(step) for step in scope["raw_path"].decode("latin-1").split("/")]
    if not steps[-1]:
        steps.pop()
    for template, route in _TEMPLATES:
        if (given := _parameters(template, steps)) is not None:
            scope[PARAMETERS] = given
            return route
    return None


def _parameters(template: list[str], steps: list[str]) -> dict[str, str] | None:
    if len(template) != len(steps):
        return None
    pairs = list(zip(template, steps, strict=True))
    if any(step != wanted for wanted, step in pairs if "{" not in wanted):
        return None
    return {wanted.strip("{}"): step for wanted, step in pairs if "{" in wanted}


class Router:
    """Hands each request to the handler of its route."""

    def __init__(
        self, handlers: Mapping[str, App | None], throttle: Callable[[Client], None]
    ) -> None:
        """A handler is None where the settings switch its paths off."""
        _require_same({route.handler for route in ROUTES}, handlers.keys())
        self.routes = [route for route in ROUTES if handlers[route.handler] is not None]
        self._throttle = throttle
        self._apps = {route.handler: self._app(route, handlers) for route in self.routes}

    async def dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        route: Route | None = scope[ROUTE]
        if route is not None and route.is_template:
            route = _match(scope)
        if route is None or route.kind != scope["type"] or route.handler not in self._apps:
            raise NotFound(f"There is nothing at {scope['path']}.")
        await self._apps[route.handler](scope, receive, send)

    def _app(self, route: Route, handlers: Mapping[str, App | None]) -> App:
        handler = cast(App, handlers[route.handler])
        if not isinstance(route, HttpRoute) or route.refuses_methods:
            return handler

        async def checked(scope: Scope, receive: Receive, send: Send) -> None:
            require_method(scope, *route.methods)
            if scope["method"] == "OPTIONS":
                await _send_methods(send, route.methods)
                return
            if route.throttled:
                self._throttle(scope[CALLER])
            await handler(scope, receive, send)

        return checked


def _require_same(named: set[str], given: Iterable[str]) -> None:
    if odd := named.symmetric_difference(given):
        raise ValueError(f"Routes and handlers differ: {', '.join(sorted(odd))}.")


async def _send_methods(send: Send, methods: Iterable[str]) -> None:
    headers = [(b"allow", ", ".join(methods).encode())]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body"})
