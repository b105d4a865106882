"""Routes: what a path is, who may use it, and how a request finds its handler.

The table of the server's own paths is `agents/routes.py`; nothing here knows any of them.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import takewhile
from typing import Any, ClassVar, Literal, cast
from urllib.parse import unquote

from tabhub.agents.http.messages import CALLER, require_method
from tabhub.config.clients import Client
from tabhub.errors import NotFound
from tabhub.wire.asgi import App, Receive, Scope, Send

ROUTE = "tabhub.route"
"""Key of a scope: the route of its path, None if there is none."""
PARAMETERS = "path_params"
"""Key of a scope: the values that the path has for the names in braces."""
UNDESCRIBED = frozenset({"HEAD", "OPTIONS"})
"""Methods that OpenAPI need not mention."""


class Access(Enum):
    """Which callers may use a path."""

    ANYONE = "anyone"
    """Answers without a token, but says less then."""
    CLIENTS = "clients"
    """Needs any client token."""
    PERSON = "person"
    """Needs the main secret; the same holds for paths that are not in the table."""
    PAGES = "pages"
    """Needs no token: the endpoint itself checks the page's origin."""

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
    """Whether a request keeps alive a server that stops when it is unused."""
    is_urgent: bool = False
    """Whether the person may need it during a flood, though other clients use it too."""

    @cached_property
    def has_reserve(self) -> bool:
        """Whether connections are reserved for it."""
        return self.access is Access.PERSON or self.is_urgent

    @cached_property
    def is_template(self) -> bool:
        """Whether the path has names in braces, which match any text."""
        return "{" in self.path

    @property
    def spellings(self) -> tuple[str, ...]:
        """The path and its aliases."""
        return (self.path,)


@dataclass(frozen=True, kw_only=True)
class WebSocketRoute(Route):
    kind = "websocket"


@dataclass(frozen=True, kw_only=True)
class HttpRoute(Route):
    """An HTTP path, which OpenAPI describes."""

    kind = "http"
    methods: tuple[str, ...]
    openapi: dict[str, Any] = field(repr=False)
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


class RouteTable:
    """Every route of a server, found by path."""

    def __init__(self, *routes: Route) -> None:
        self._all = routes
        http = [route for route in routes if isinstance(route, HttpRoute)]
        self._websockets = {
            route.path: route for route in routes if isinstance(route, WebSocketRoute)
        }
        self._exact: dict[str, Route] = {
            path: route for route in http if not route.is_template for path in route.spellings
        }
        self._templates = [(route.path.split("/"), route) for route in http if route.is_template]
        self._prefixes = {_prefix(steps): route for steps, route in self._templates}

    def __iter__(self) -> Iterator[Route]:
        return iter(self._all)

    def find(self, scope: Scope) -> Route | None:
        """The route that decides who may use a path.

        For all paths with the prefix of a template that is one and the same template.
        """
        path: str = scope["path"]
        if scope["type"] == "websocket" and path in self._websockets:
            return self._websockets[path]
        return self._exact.get(path) or self._below(path)

    def match(self, scope: Scope) -> Route | None:
        """The template that fits a path; its parameters are put into the scope.

        The raw path is split, so that a parameter may contain any character.
        """
        steps = [unquote(step) for step in scope["raw_path"].decode("latin-1").split("/")]
        if not steps[-1]:
            steps.pop()
        for template, route in self._templates:
            if (parameters := _parameters(template, steps)) is not None:
                scope[PARAMETERS] = parameters
                return route
        return None

    def _below(self, path: str) -> Route | None:
        found = (route for prefix, route in self._prefixes.items() if path.startswith(prefix))
        return next(found, None)


def _prefix(template: list[str]) -> str:
    """The steps of a template before its first name in braces."""
    return "/".join([*takewhile(lambda step: "{" not in step, template), ""])


def _parameters(template: list[str], steps: list[str]) -> dict[str, str] | None:
    if len(template) != len(steps):
        return None
    pairs = list(zip(template, steps, strict=True))
    if any(step != expected for expected, step in pairs if "{" not in expected):
        return None
    return {name.strip("{}"): step for name, step in pairs if "{" in name}


class HttpRouter:
    """Hands each request to the handler of its route."""

    def __init__(
        self,
        table: RouteTable,
        handlers: Mapping[str, App | None],
        throttle: Callable[[Client], None],
    ) -> None:
        """A handler is None where the settings switch its paths off."""
        _require_same({route.handler for route in table}, handlers.keys())
        self.routes = [route for route in table if handlers[route.handler] is not None]
        self._table = table
        self._throttle = throttle
        self._apps = {route.handler: self._app(route, handlers) for route in self.routes}

    def dispatch(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        route: Route | None = scope[ROUTE]
        if route is not None and route.is_template:
            route = self._table.match(scope)
        if route is None or route.kind != scope["type"] or route.handler not in self._apps:
            raise NotFound(f"There is nothing at {scope['path']}.")
        return self._apps[route.handler](scope, receive, send)

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


def _require_same(named: set[str], handlers: Iterable[str]) -> None:
    if odd := named.symmetric_difference(handlers):
        raise ValueError(f"Routes and handlers differ: {', '.join(sorted(odd))}.")


async def _send_methods(send: Send, methods: Iterable[str]) -> None:
    headers = [(b"allow", ", ".join(methods).encode())]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body"})
