"""The OpenAPI path items that the route table refers to, one for each path."""

from typing import Any

import msgspec

from tabhub.agents.admin import AuditQuery
from tabhub.agents.tool_search import MOST_AT_ONCE
from tabhub.config.settings import ALL_TOOLSETS, TOOLSETS

Json = dict[str, Any]
JSON, EVENTS, TEXT = "application/json", "text/event-stream", "text/plain"
STRING: Json = {"type": "string"}
BOOLEAN: Json = {"type": "boolean"}
INTEGER: Json = {"type": "integer"}
OBJECT: Json = {"type": "object"}


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def record(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": sorted(properties)}


def array(items: Json) -> Json:
    return {"type": "array", "items": items}


def response(description: str, **schemas: Json) -> Json:
    """A response; the schemas by kind of content."""
    kinds = {"json": JSON, "events": EVENTS, "text": TEXT}
    content = {kinds[kind]: {"schema": schema} for kind, schema in schemas.items()}
    if not content:
        return {"description": description}
    return {"description": description, "content": content}


def failing(description: str) -> Json:
    return response(description, json=ref("Error"))


RESPONSES: Json = {
    "400": failing("The request or the tool's arguments are wrong."),
    "401": failing("The token is missing or wrong."),
    "403": failing("The token, the origin, a rule or the person does not allow this."),
    "404": failing("There is no such tool, session or endpoint."),
    "405": failing("The path takes other methods; the header Allow names them."),
    "406": failing("The response is an event stream, which the client does not accept."),
    "408": failing("The body did not arrive in time."),
    "413": failing("The body is too large."),
    "415": failing("The body must be JSON."),
    "429": failing("Too many requests; Retry-After says how many seconds to wait."),
    "503": failing("No browser is connected, or too many connections are open."),
}
RESPONSES["401"]["headers"] = {"WWW-Authenticate": {"schema": STRING, "required": True}}
RESPONSES["405"]["headers"] = {"Allow": {"schema": STRING, "required": True}}
RESPONSES["429"]["headers"] = {"Retry-After": {"schema": STRING, "required": True}}


def faults(*statuses: int) -> Json:
    """References to shared responses; those of access control are always among them."""
    return {str(n): {"$ref": f"#/components/responses/{n}"} for n in (*statuses, 401, 403, 503)}


def header(name: str, description: str, schema: Json, required: bool = False) -> Json:
    parameter = {"name": name, "in": "header", "schema": schema, "description": description}
    return {**parameter, "required": True} if required else parameter


def query(name: str, schema: Json, description: str) -> Json:
    return {"name": name, "in": "query", "schema": schema, "description": description}


def of_query(struct: type[msgspec.Struct]) -> list[Json]:
    """The query parameters that a struct is read from."""
    _, schemas = msgspec.json.schema_components([struct])
    fields = schemas[struct.__name__]["properties"]
    return [
        query(name, FORMATS.get(name) or _in_url(schema), AUDIT_QUERY[name])
        for name, schema in fields.items()
    ]


def _in_url(schema: Json) -> Json:
    """A string in a URL cannot be null; in other types the word null is read as null."""
    if STRING in schema.get("anyOf", ()):
        return STRING
    return {key: value for key, value in schema.items() if key != "default"}


FORMATS: Json = {"since": {**STRING, "format": "date-time"}}
AUDIT_QUERY = {
    "limit": "How many entries at most.",
    "plugin": "Only calls of tools of this plugin.",
    "tool": "Only calls of this tool.",
    "client": "Only calls of this client.",
    "success": "Only calls that succeeded, or only those that failed.",
    "outcome": "Only calls that ended so.",
    "who": "Only what the person did, or only what others did.",
    "text": "Only entries that have all these words somewhere.",
    "since": "Only entries of this time or later.",
}
NAME: Json = {
    "name": "name",
    "in": "path",
    "required": True,
    "schema": STRING,
    "example": "browser_list_tabs",
}
SCHEMAS: Json = {
    "CallBody": {
        "type": "object",
        "properties": {"arguments": {"type": ["object", "null"]}},
        "additionalProperties": False,
    },
    "Message": {
        "description": "A JSON-RPC 2.0 message as MCP defines it.",
        "type": "object",
        "properties": {"jsonrpc": {"const": "2.0"}, "method": STRING, "params": OBJECT},
        "required": ["jsonrpc", "method"],
    },
    "JsonRpc": {"type": "object", "properties": {"jsonrpc": {"const": "2.0"}}},
}

TOOLS: Json = {
    "get": {
        "operationId": "listTools",
        "summary": "List the tools that the token may call",
        "parameters": [
            query("query", STRING, "Words to search for; the best match comes first."),
            query("plugin", STRING, "Only tools of this plugin."),
            query("domain", STRING, "Only tools that pages of this site publish."),
            query(
                "toolset",
                {**STRING, "enum": [*TOOLSETS, ALL_TOOLSETS]},
                "Only tools of this toolset.",
            ),
            query(
                "limit", {**INTEGER, "minimum": 1, "maximum": MOST_AT_ONCE}, "The size of a page."
            ),
            query("cursor", STRING, "The nextCursor of the previous page."),
        ],
        "responses": {"200": response("A page of tools.", json=ref("ToolPage")), **faults(400)},
    }
}
TOOL: Json = {
    "parameters": [NAME],
    "get": {
        "operationId": "getTool",
        "summary": "Get a tool",
        "responses": {"200": response("The tool.", json=ref("ToolEntry")), **faults(404)},
    },
}
CALL: Json = {
    "parameters": [NAME],
    "post": {
        "operationId": "callTool",
        "summary": "Call a tool",
        "description": "With Accept: text/event-stream the response is a stream of `progress` "
        "events that ends with `result` or `error`, with status 200; an error before the first "
        "event is a JSON response. Closing the connection cancels the call.",
        "parameters": [
            header(
                "Idempotency-Key",
                "A call with the same key runs only once.",
                {**STRING, "minLength": 1, "maxLength": 200},
            ),
            header("X-Tabhub-Group", "The handle of a tab group to work in.", STRING),
        ],
        "requestBody": {"content": {JSON: {"schema": ref("CallBody")}}},
        "responses": {
            "200": response("The result of the tool.", json=ref("CallResult"), events=STRING),
            "422": response("The tool failed.", json=ref("Failure")),
            "default": response(
                "The call failed; its reason says why.",
                json={"anyOf": [ref("Failure"), ref("Error")]},
            ),
            **faults(404, 405, 408, 413, 415, 429),
            **{
                status: response(
                    RESPONSES[status]["description"],
                    json={"anyOf": [ref("Failure"), ref("Error")]},
                )
                for status in ("400", "403", "503")
            },
        },
    },
}


def _mcp(name: str, what: str) -> Json:
    """An MCP endpoint: its errors are those of JSON-RPC, unless access control refuses."""
    either = {"anyOf": [ref("JsonRpc"), ref("Error")]}
    session = header("Mcp-Session-Id", "The session, in revisions with a handshake.", STRING)
    version = header("MCP-Protocol-Version", "The revision of MCP.", STRING)
    codes = ("400", "401", "403", "404", "405", "406", "408", "413", "415", "429", "503")
    wrong = {code: response(RESPONSES[code]["description"], json=either) for code in codes}
    return {
        "parameters": [session, version],
        "post": {
            "operationId": f"{name}Send",
            "summary": f"MCP over Streamable HTTP: {what}",
            "parameters": [query("toolsets", STRING, "Names of toolsets, separated by commas.")],
            "requestBody": {
                "required": True,
                "content": {JSON: {"schema": {"anyOf": [ref("Message"), array(ref("Message"))]}}},
            },
            "responses": {
                "200": response("The response.", json={"type": ["object", "array"]}, events=STRING),
                "202": response("The notification or response was accepted."),
                **wrong,
            },
        },
        "get": {
            "operationId": f"{name}Listen",
            "summary": "Receive notifications of a session",
            "responses": {"200": response("A stream.", events=STRING), **wrong},
        },
        "delete": {
            "operationId": f"{name}End",
            "summary": "End a session",
            "responses": {"200": response("The session has ended.", json=OBJECT), **wrong},
        },
    }


def _reading(id: str, summary: str, success: Json, *codes: int, **more: Any) -> Json:
    responses = {"200": success, **faults(*codes)}
    return {"get": {"operationId": id, "summary": summary, "responses": responses, **more}}


def _changing(id: str, summary: str, success: Json, *codes: int, **more: Any) -> Json:
    responses = {"200": success, **faults(429, *codes)}
    return {"post": {"operationId": id, "summary": summary, "responses": responses, **more}}


def _object(description: str, **properties: Json) -> Json:
    return response(description, json=record(**properties))


MCP = _mcp("mcp", "the tools of the chosen toolsets")
GATEWAY = _mcp("gateway", "two tools that find and call all others")
SSE = _reading(
    "sseListen",
    "MCP over HTTP+SSE: the stream of a session",
    response("Events: endpoint, message, ping, error.", events=STRING),
    400,
    406,
    429,
    parameters=[query("toolsets", STRING, "Names of toolsets, separated by commas.")],
)
MESSAGE: Json = {
    "post": {
        "operationId": "sseSend",
        "summary": "MCP over HTTP+SSE: a message to the server",
        "parameters": [
            {**query("sessionId", STRING, "As given in the event `endpoint`."), "required": True}
        ],
        "requestBody": {"required": True, "content": {JSON: {"schema": ref("Message")}}},
        "responses": {
            "202": _object(
                "The message was accepted; the response comes on the stream.", status=STRING
            ),
            **faults(400, 404, 408, 413, 415, 429),
        },
    }
}
HEALTH = _reading(
    "health",
    "Whether the server runs; with a token, its status",
    _object("The server runs.", status=STRING),
    parameters=[
        query(
            "challenge", STRING, "A challenge by which the server proves that it has the secret."
        ),
        query("client", STRING, "The label of a token that the server also proves to know."),
    ],
)
OPENAPI = _reading(
    "openapi", "This description", _object("The description.", openapi=STRING, paths=OBJECT)
)
WS_INFO = _reading("wsInfo", "Where the extension connects", _object("The address.", wsUrl=STRING))
SETTINGS = _reading(
    "settings",
    "The settings in force, and where the file differs",
    _object(
        "The settings; `fault` says why the file could not be read, if so.",
        settings=OBJECT,
        differs=array(STRING),
        fault={"type": ["string", "null"]},
    ),
)
AUDIT = _reading(
    "audit",
    "The audit log, the newest entry first",
    response("Entries.", json=array(record(timestamp=STRING, tool=STRING, success=BOOLEAN))),
    400,
    parameters=of_query(AuditQuery),
)
METRICS = _reading("metrics", "Metrics for Prometheus", response("Metrics.", text=STRING))
LIMITED: Json = {"type": "integer", "minimum": 0, "maximum": 100}
CALLS = _reading(
    "watchCalls",
    "The calls of all agents as they begin and end",
    response(
        "Events: `start`, when a call runs, `end`, with its outcome, and `asked`, with all calls"
        " that wait for a person, when one is added or answered.",
        events=STRING,
    ),
    400,
    429,
    parameters=[query("recent", LIMITED, "How many calls that have ended come first; to 100.")],
)
RELOAD = _changing(
    "reload",
    "Reload settings, rules and plugins",
    _object(
        "Done; `restart`, if present, names the settings that need a restart.",
        ok=BOOLEAN,
        plugins=INTEGER,
        durationMs=INTEGER,
    ),
    400,
)
RELOAD_EXTENSION = _changing(
    "reloadExtension", "Restart the extension", _object("The extension restarts.", ok=BOOLEAN)
)
PLUGIN_SETTINGS = _changing(
    "configurePlugin",
    "Change the settings of a plugin",
    _object("The settings are in force.", ok=BOOLEAN),
    400,
    404,
    408,
    413,
    415,
    requestBody={
        "required": True,
        "content": {JSON: {"schema": ref("PluginSettings")}},
    },
)
ALLOW_PAGE = _changing(
    "allowPage",
    "Pair the page of an origin that waits, or else the next one",
    _object(
        "The origin is allowed. `code` is that of the page that was paired; if it is null, the "
        "next page of the origin that connects within `seconds` is paired, or none if that is 0: "
        "then only the level has changed. `level` is that of calls through the origin's page "
        "worker; null if they are judged as in any browser.",
        ok=BOOLEAN,
        origin=STRING,
        code={"type": ["string", "null"]},
        seconds=INTEGER,
        level={"type": ["string", "null"]},
    ),
    400,
    404,
    408,
    413,
    415,
    requestBody={"required": True, "content": {JSON: {"schema": ref("PageAllowed")}}},
)
PAIR_EXTENSION = _changing(
    "pairExtension",
    "An extension that has no secret asks to be paired by a code",
    _object(
        "For a commitment: `id` and our `key`. For the key and the nonce: how many `seconds` the "
        "code counts. For the id alone, after a while: `sealed`, null until the person has "
        "confirmed the code. With `ended`, nothing: the attempt is forgotten.",
        id=STRING,
        key=STRING,
        seconds=INTEGER,
        sealed={"type": ["object", "null"]},
    ),
    400,
    403,
    404,
    408,
    413,
    415,
    requestBody={"required": True, "content": {JSON: {"schema": ref("PairingStep")}}},
)
CONFIRM_EXTENSION = _changing(
    "confirmExtension",
    "Pair the extension that shows this code",
    _object("The extension gets the secret.", ok=BOOLEAN, origin=STRING),
    400,
    404,
    408,
    413,
    415,
    requestBody={"required": True, "content": {JSON: {"schema": ref("PairingConfirmed")}}},
)
