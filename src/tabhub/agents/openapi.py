"""`/openapi.json`: every HTTP endpoint that answers, described for programs.

The shapes come from the structs that read and write them, the reason words from the table of
errors; what is not served is not described.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import msgspec

from tabhub import __version__
from tabhub.agents import path_items as paths
from tabhub.agents.admin import PluginSettings
from tabhub.agents.messages import refuse, require_method, send_json
from tabhub.agents.rest import Failure, ToolEntry, ToolPage
from tabhub.errors import REASONS, ProtocolError
from tabhub.wire.asgi import Receive, Scope, Send
from tabhub.wire.mcp.messages import CallResult

Json = dict[str, Any]
TEMPLATE = "#/components/schemas/{name}"
STRUCTS = (ToolEntry, ToolPage, CallResult, Failure, PluginSettings)


class OpenApi:
    """Answers with the description, written once."""

    def __init__(self, served: Callable[[], list[str]]) -> None:
        self._served = served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            require_method(scope, "GET", "HEAD")
        except ProtocolError as error:
            await refuse(scope, send, error)
        else:
            await send_json(send, 200, self._body)

    @cached_property
    def _body(self) -> bytes:
        return msgspec.json.encode(description(self._served()))


def description(served: list[str]) -> Json:
    """All that is known of the paths that are served."""
    known = {path: told for path, told in paths.PATHS.items() if _root(path) in served}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "tabhub",
            "version": __version__,
            "description": "Connects agents to the tabs of a person's own browser.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"bearer": []}],
        "paths": known,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
            "responses": paths.RESPONSES,
        },
    }


def _root(path: str) -> str:
    """The path by which a template is served."""
    return "/tools" if path.startswith("/tools/") else path


def _schemas() -> Json:
    _, shapes = msgspec.json.schema_components(STRUCTS, ref_template=TEMPLATE)
    return {**shapes, **paths.SCHEMAS, "Error": _error()}


def _error() -> Json:
    categories = sorted({row.category for row in REASONS.values()})
    told = {
        "code": {"type": "integer", "description": "The code that JSON-RPC has for it."},
        "message": {"type": "string"},
        "reason": {"type": "string", "enum": sorted(REASONS)},
        "retryable": {"type": "boolean"},
        "category": {"type": "string", "enum": categories},
    }
    error = {"type": "object", "properties": told, "required": sorted(told)}
    return {"type": "object", "properties": {"error": error}, "required": ["error"]}
