"""Every path of the server in one table: who may use it, how, what answers, what OpenAPI says.

The router dispatches by this table, access control reads who may use a path, usage reads what
counts, and `/openapi.json` is written from it. An endpoint is a route here and a handler of that
name, which the composition root gives to the router.
"""

from tabhub.agents import path_items
from tabhub.agents.http.routing import Access, HttpRoute, RouteTable, WebSocketRoute
from tabhub.agents.path_items import Json

READS, TOOL_READS, TOOL_CALLS = ("GET", "HEAD"), ("GET", "HEAD", "OPTIONS"), ("POST", "OPTIONS")
MCP = ("GET", "POST", "DELETE")


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
    """Something that the person does; the rate stops a program that repeats it endlessly."""
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
    _changing("/reload", "reload", path_items.RELOAD),
    _changing("/extension/reload", "reload_extension", path_items.RELOAD_EXTENSION),
    _changing("/plugin-settings", "plugin_settings", path_items.PLUGIN_SETTINGS),
    WebSocketRoute(path="/ws", access=Access.PERSON, handler="link", counts_as_use=False),
    WebSocketRoute(path="/page", access=Access.PAGES, handler="page_worker"),
)
