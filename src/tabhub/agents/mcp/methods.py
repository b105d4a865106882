"""The methods of MCP: the parameters of each, what it needs of the server, and what answers it."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from tabhub.agents.mcp.backend import Backend, Exchange
from tabhub.errors import Internal, ProtocolError, TabhubError
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m

log = logging.getLogger(__name__)

Answer = Callable[[Exchange, Any], Awaitable[m.Result]]
RawParams = msgspec.Raw | msgspec.UnsetType


class ParamsDecoder:
    """Reads a method's parameters; absent ones are an empty object."""

    def __init__(self, kind: type[m.RequestParams]) -> None:
        self._decode = msgspec.json.Decoder(kind).decode

    def __call__(self, raw: RawParams) -> Any:
        try:
            return self._decode(raw if isinstance(raw, msgspec.Raw) else jsonrpc.EMPTY)
        except jsonrpc.UNREADABLE as error:
            raise ProtocolError(f"Wrong params: {error}.", "invalid_params") from None


class McpMethod:
    """One method; without its capability a backend does not have it."""

    def __init__(
        self,
        kind: type[m.RequestParams],
        capability: str | None,
        answer: Callable[[Backend], Answer],
    ) -> None:
        self.params = ParamsDecoder(kind)
        self.capability = capability
        self.answer = answer


COMMON: dict[str, McpMethod] = {
    "tools/list": McpMethod(m.PageParams, "tools", lambda b: b.list_tools),
    "tools/call": McpMethod(m.CallParams, "tools", lambda b: b.call_tool),
    "resources/list": McpMethod(m.PageParams, "resources", lambda b: b.list_resources),
    "resources/templates/list": McpMethod(m.PageParams, "resources", lambda b: b.list_templates),
    "resources/read": McpMethod(m.UriParams, "resources", lambda b: b.read_resource),
    "prompts/list": McpMethod(m.PageParams, "prompts", lambda b: b.list_prompts),
    "prompts/get": McpMethod(m.GetPromptParams, "prompts", lambda b: b.get_prompt),
    "completion/complete": McpMethod(m.CompleteParams, "completions", lambda b: b.complete),
}
HANDSHAKE = COMMON | {"ping": McpMethod(m.RequestParams, None, lambda b: b.ping)}
SESSIONLESS = COMMON | {"server/discover": McpMethod(m.RequestParams, None, lambda b: b.discover)}


def find(table: dict[str, McpMethod], backend: Backend, name: str) -> McpMethod | None:
    """The method, if the table has it and the backend has its capability."""
    method = table.get(name)
    if method is None or method.capability is None:
        return method
    return method if backend.has(method.capability) else None


def not_found(name: str) -> ProtocolError:
    return ProtocolError(f"There is no method {name!r} here.", "method_not_found")


def error_for(fault: Exception, method: str) -> TabhubError:
    """The error that a client gets for an exception of a handler."""
    if isinstance(fault, TabhubError):
        return fault
    if isinstance(fault, RecursionError):
        return ProtocolError("The parameters are nested too deeply.", "invalid_params")
    log.error("%s failed", method, exc_info=fault)
    return Internal("Something went wrong inside tabhub.")
