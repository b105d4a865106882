"""`/openapi.json`: the description of every HTTP endpoint that is served.

The schemas come from the structs that read and write them, the reason words from the table of
errors.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import msgspec

from tabhub import __version__
from tabhub.agents import path_items
from tabhub.agents.admin import PluginSettings
from tabhub.agents.http.messages import send_json
from tabhub.agents.http.routing import Access, HttpRoute, Route
from tabhub.agents.rest import Failure, ToolEntry, ToolPage
from tabhub.errors import REASONS
from tabhub.wire.asgi import Receive, Scope, Send
from tabhub.wire.mcp.messages import CallResult

Json = dict[str, Any]
TEMPLATE = "#/components/schemas/{name}"
TOKEN: list[Json] = [{"bearer": []}]
NO_TOKEN: list[Json] = [{}, {"bearer": []}]
STRUCTS = (ToolEntry, ToolPage, CallResult, Failure, PluginSettings)


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
