"""Every path of the server in one table: who may use it, how, what answers, what OpenAPI says.

The router dispatches by this table, access control reads who may use a path, usage reads what
counts, and `/openapi.json` is written from it. An endpoint is a route here and a handler of that
name, which the composition root gives to the router.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import msgspec

from tabhub import __version__
from tabhub.agents import path_items
from tabhub.agents.admin import PageAllowed, PairingConfirmed, PairingStep, PluginSettings
from tabhub.agents.http.messages import send_json
from tabhub.agents.http.routing import Access, HttpRoute, Route, RouteTable, WebSocketRoute
from tabhub.agents.rest import Failure, ToolEntry, ToolPage
from tabhub.errors import REASONS
from tabhub.wire.asgi import Receive, Scope, Send
from tabhub.wire.mcp.messages import CallResult

Json = dict[str, Any]
READS, TOOL_READS, TOOL_CALLS = ("GET", "HEAD"), ("GET", "HEAD", "OPTIONS"), ("POST", "OPTIONS")
MCP = ("GET", "POST", "DELETE")
TEMPLATE = "#/components/schemas/{name}"
TOKEN: list[Json] = [{"bearer": []}]
NO_TOKEN: list[Json] = [{}, {"bearer": []}]
STRUCTS = (
    *(ToolEntry, ToolPage, CallResult, Failure),
    *(PluginSettings, PageAllowed, PairingStep, PairingConfirmed),
)
"""Their schemas are those of the structs that read and write them."""


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


def _changing(path: str, handler: str, openapi: Json, *, throttled: bool = True) -> HttpRoute:
    """Something that the person does; the rate stops a program that repeats it endlessly."""
    return HttpRoute(
        path=path,
        access=Access.PERSON,
        handler=handler,
        methods=("POST",),
        openapi=openapi,
        throttled=throttled,
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


ROUTES = RouteTable(
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
    _reading("/calls", Access.PERSON, "calls", path_items.CALLS, counts_as_use=False),
    _changing("/reload", "reload", path_items.RELOAD),
    _changing("/extension/reload", "reload_extension", path_items.RELOAD_EXTENSION),
    _changing("/plugin-settings", "plugin_settings", path_items.PLUGIN_SETTINGS),
    # The `tabhub` command has no other way to confirm a page's code.
    _changing("/pages/allow", "allow_page", path_items.ALLOW_PAGE, throttled=False),
    HttpRoute(
        path="/extension/pair",
        access=Access.ANYONE,
        handler="pair_extension",
        methods=("POST",),
        openapi=path_items.PAIR_EXTENSION,
        counts_as_use=False,
    ),
    _changing(
        "/extension/pair/confirm",
        "confirm_extension",
        path_items.CONFIRM_EXTENSION,
        throttled=False,
    ),
    WebSocketRoute(path="/ws", access=Access.PERSON, handler="link", counts_as_use=False),
    WebSocketRoute(path="/page", access=Access.PAGES, handler="page_worker"),
)


class OpenApi:
    """Serves the description, which is encoded once."""

    def __init__(self, served: Callable[[], Iterable[Route]]) -> None:
        self._served = served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_json(send, 200, self._body)

    @cached_property
    def _body(self) -> bytes:
        return msgspec.json.encode(description(self._served()))


def description(routes: Iterable[Route]) -> Json:
    """The served paths, with the schemas and responses that they share."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "tabhub",
            "version": __version__,
            "description": "Connects agents to the tabs of a person's own browser.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": TOKEN,
        "paths": {route.path: _item(route) for route in routes if isinstance(route, HttpRoute)},
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
            "responses": path_items.RESPONSES,
        },
    }


def _item(route: HttpRoute) -> Json:
    """The path item; a path that needs no token says so."""
    if route.access is not Access.ANYONE:
        return route.openapi
    operations = route.openapi.items()
    return {method: {**operation, "security": NO_TOKEN} for method, operation in operations}


def _schemas() -> Json:
    _, schemas = msgspec.json.schema_components(STRUCTS, ref_template=TEMPLATE)
    return {**schemas, **path_items.SCHEMAS, "Error": _error()}


def _error() -> Json:
    categories = sorted({row.category for row in REASONS.values()})
    properties = {
        "code": {"type": "integer", "description": "The code of JSON-RPC."},
        "message": {"type": "string"},
        "reason": {"type": "string", "enum": sorted(REASONS)},
        "retryable": {"type": "boolean"},
        "category": {"type": "string", "enum": categories},
    }
    error = {"type": "object", "properties": properties, "required": sorted(properties)}
    return {"type": "object", "properties": {"error": error}, "required": ["error"]}
