"""Parameters and results of MCP methods.

Fields that only sessionless revisions have (`resultType`, `ttlMs`, `cacheScope`) stay unset in the
others, so that one struct serves every revision.
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType, field

Json = dict[str, Any]
LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
LOG_LEVELS: tuple[LogLevel, ...] = LogLevel.__args__  # type: ignore[attr-defined]

PREFIX = "io.modelcontextprotocol/"
META_VERSION = PREFIX + "protocolVersion"
META_CLIENT_INFO = PREFIX + "clientInfo"
META_CAPABILITIES = PREFIX + "clientCapabilities"
META_LOG_LEVEL = PREFIX + "logLevel"
META_SERVER_INFO = PREFIX + "serverInfo"
META_SUBSCRIPTION = PREFIX + "subscriptionId"


def is_wanted(level: LogLevel, least: LogLevel) -> bool:
    """Whether a client that chose a least level wants messages of another."""
    return LOG_LEVELS.index(level) >= LOG_LEVELS.index(least)


class Wire(msgspec.Struct, rename="camel", omit_defaults=True):
    """Base: camelCase on the wire, without members that have their default."""


# -- parameters ------------------------------------------------------------------------------


class RequestParams(Wire):
    """Members that every request may have."""

    meta: Json = field(default_factory=dict, name="_meta")


class ClientInfo(Wire):
    name: str = ""
    version: str = ""
    title: str | None = None


class InitializeParams(RequestParams, kw_only=True):
    protocol_version: str
    capabilities: Json = field(default_factory=dict)
    client_info: ClientInfo = field(default_factory=ClientInfo)


class PageParams(RequestParams):
    cursor: str | None = None


class InputParams(RequestParams):
    """A request that may repeat one whose result was `input_required`."""

    input_responses: dict[str, Json] | None = None
    request_state: str | None = None


class CallParams(InputParams, kw_only=True):
    name: str
    arguments: Raw = Raw(b"{}")


class GetPromptParams(InputParams, kw_only=True):
    name: str
    arguments: dict[str, str] | None = None


class UriParams(InputParams, kw_only=True):
    uri: str


class SetLevelParams(RequestParams, kw_only=True):
    level: LogLevel


class Argument(Wire):
    name: str
    value: str


class CompletionContext(Wire):
    arguments: dict[str, str] = field(default_factory=dict)


class CompleteParams(RequestParams, kw_only=True):
    ref: Json
    argument: Argument
    context: CompletionContext = field(default_factory=CompletionContext)


class CancelledParams(RequestParams):
    request_id: int | str | None = None
    reason: str | None = None


class ListenFilter(Wire):
    tools_list_changed: bool | None = None
    prompts_list_changed: bool | None = None
    resources_list_changed: bool | None = None
    resource_subscriptions: list[str] | None = None


class ListenParams(RequestParams):
    notifications: ListenFilter = field(default_factory=ListenFilter)


# -- results ---------------------------------------------------------------------------------


class Result(Wire):
    """Members that every result may have."""

    meta: Json | UnsetType = field(default=UNSET, name="_meta")
    result_type: str | UnsetType = UNSET
    ttl_ms: int | UnsetType = UNSET
    cache_scope: str | UnsetType = UNSET


class Implementation(Wire):
    name: str
    version: str
    title: str | None = None


class InitializeResult(Result, kw_only=True):
    protocol_version: str
    capabilities: Json
    server_info: Implementation
    instructions: str | None = None


class DiscoverResult(Result, kw_only=True):
    supported_versions: tuple[str, ...]
    capabilities: Json
    instructions: str | None = None


class ToolInfo(Wire, kw_only=True):
    """A tool as clients see it."""

    name: str
    title: str | None = None
    description: str | None = None
    input_schema: Any
    output_schema: Any | UnsetType = UNSET
    annotations: Json | UnsetType = UNSET
    meta: Json | UnsetType = field(default=UNSET, name="_meta")


class PaginatedResult(Result):
    next_cursor: str | UnsetType = UNSET


class ToolList(PaginatedResult, kw_only=True):
    tools: list[ToolInfo] | Raw


class McpResourceList(PaginatedResult, kw_only=True):
    resources: list[Json]


class TemplateList(PaginatedResult, kw_only=True):
    resource_templates: list[Json]


class PromptList(PaginatedResult, kw_only=True):
    prompts: list[Json]


class CallResult(Result, kw_only=True):
    """`content` blocks for people and models, `structuredContent` for programs."""

    content: list[Json]
    structured_content: Any | UnsetType = UNSET
    is_error: bool = False


class ReadResult(Result, kw_only=True):
    contents: list[Json]


class PromptResult(Result, kw_only=True):
    messages: list[Json]
    description: str | None = None


class CompleteResult(Result, kw_only=True):
    completion: Json


class InputRequired(Result, kw_only=True):
    """Elicitation in sessionless revisions: the client sends the request again with the answers."""

    input_requests: dict[str, Json]
    request_state: str | UnsetType = UNSET


def text(value: str) -> Json:
    """A text content block."""
    return {"type": "text", "text": value}


def image(data: str, mime: str) -> Json:
    """A picture as a content block; the data is in base64."""
    return {"type": "image", "data": data, "mimeType": mime}


def embedded(uri: str, data: str, mime: str) -> Json:
    """A file as a content block; the data is in base64."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "blob": data}}
