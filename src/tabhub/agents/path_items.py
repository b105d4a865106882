"""What `/openapi.json` says of each path: the path items that the route table refers to."""

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


def listed(items: Json) -> Json:
    return {"type": "array", "items": items}


def answer(description: str, **content: Json) -> Json:
    """A response; its content by kind."""
    kinds = {"json": JSON, "events": EVENTS, "text": TEXT}
    told = {kinds[kind]: {"schema": schema} for kind, schema in content.items()}
    return {"description": description, "content": told} if told else {"description": description}


def failing(description: str) -> Json:
    return answer(description, json=ref("Error"))


RESPONSES: Json = {
    "400": failing("The request, or what it gives to the tool, is wrong."),
    "401": failing("The token is missing or wrong."),
    "403": failing("This may not be done: by this token, from this origin, by a rule or a person."),
    "404": failing("There is no such tool, session or endpoint."),
    "405": failing("Another method would be right; the header Allow says which."),
    "406": failing("The answer is an event stream, which the client does not accept."),
    "408": failing("The body did not come in time."),
    "413": failing("The body is too large."),
    "415": failing("The body must be JSON."),
    "429": failing("Too often; Retry-After says how many seconds to wait."),
    "503": failing("No browser is connected, or too many connections are open."),
}
RESPONSES["401"]["headers"] = {"WWW-Authenticate": {"schema": STRING, "required": True}}
RESPONSES["405"]["headers"] = {"Allow": {"schema": STRING, "required": True}}
RESPONSES["429"]["headers"] = {"Retry-After": {"schema": STRING, "required": True}}


def faults(*statuses: int) -> Json:
    """Responses that several endpoints have in common; everywhere those of access control."""
    return {str(n): {"$ref": f"#/components/responses/{n}"} for n in (*statuses, 401, 403, 503)}


def header(name: str, description: str, schema: Json, required: bool = False) -> Json:
    told = {"name": name, "in": "header", "schema": schema, "description": description}
    return {**told, "required": True} if required else told


def query(name: str, schema: Json, description: str) -> Json:
    return {"name": name, "in": "query", "schema": schema, "description": description}


def of_query(struct: type[msgspec.Struct]) -> list[Json]:
    """The parameters that a struct reads from a URL."""
    _, shapes = msgspec.json.schema_components([struct])
    fields = shapes[struct.__name__]["properties"]
    return [
        query(name, FORMATS.get(name) or _in_url(schema), AUDIT_QUERY[name])
        for name, schema in fields.items()
    ]


def _in_url(schema: Json) -> Json:
    """In a URL there is no null among strings; elsewhere the word is read as one."""
    if STRING in schema.get("anyOf", ()):
        return STRING
    return {key: value for key, value in schema.items() if key != "default"}


FORMATS: Json = {"since": {**STRING, "format": "date-time"}}
AUDIT_QUERY = {
    "limit": "At most so many.",
    "plugin": "Only calls of tools of this plugin.",
    "tool": "Only calls of this tool.",
    "client": "Only what this client did.",
    "success": "Only what went well, or only what did not.",
    "since": "Nothing older.",
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
        "description": "A message of JSON-RPC 2.0, as MCP defines them.",
        "type": "object",
        "properties": {"jsonrpc": {"const": "2.0"}, "method": STRING, "params": OBJECT},
        "required": ["jsonrpc", "method"],
    },
    "JsonRpc": {"type": "object", "properties": {"jsonrpc": {"const": "2.0"}}},
}

TOOLS: Json = {
    "get": {
        "operationId": "listTools",
        "summary": "The tools that the token may call",
        "parameters": [
            query("query", STRING, "Words to search for; the best match comes first."),
            query("plugin", STRING, "Only tools of this plugin."),
            query("domain", STRING, "Only tools that pages of this site publish."),
            query(
                "toolset",
                {**STRING, "enum": [*TOOLSETS, ALL_TOOLSETS]},
                "Only tools of this toolset.",
            ),
            query("limit", {**INTEGER, "minimum": 1, "maximum": MOST_AT_ONCE}, "A page's size."),
            query("cursor", STRING, "The nextCursor of the page before."),
        ],
        "responses": {"200": answer("A page of tools.", json=ref("ToolPage")), **faults(400)},
    }
}
TOOL: Json = {
    "parameters": [NAME],
    "get": {
        "operationId": "getTool",
        "summary": "One tool",
        "responses": {"200": answer("The tool.", json=ref("ToolEntry")), **faults(404)},
    },
}
CALL: Json = {
    "parameters": [NAME],
    "post": {
        "operationId": "callTool",
        "summary": "Call a tool",
        "description": "With Accept: text/event-stream the answer is a stream of `progress` "
        "events that ends with `result` or `error`, with status 200; an error before the first "
        "event is a plain answer. Closing the connection cancels the call.",
        "parameters": [
            header(
                "Idempotency-Key",
                "A call with the same key is not run twice.",
                {**STRING, "minLength": 1, "maxLength": 200},
            ),
            header("X-Tabhub-Group", "The handle of a tab group to work in.", STRING),
        ],
        "requestBody": {"content": {JSON: {"schema": ref("CallBody")}}},
        "responses": {
            "200": answer("What the tool gives.", json=ref("CallResult"), events=STRING),
            "422": answer("The tool has failed.", json=ref("Failure")),
            "default": answer(
                "The call has failed; its reason says why.",
                json={"anyOf": [ref("Failure"), ref("Error")]},
            ),
            **faults(404, 405, 408, 413, 415, 429),
            **{
                status: answer(
                    RESPONSES[status]["description"],
                    json={"anyOf": [ref("Failure"), ref("Error")]},
                )
                for status in ("400", "403", "503")
            },
        },
    },
}


def _mcp(name: str, what: str) -> Json:
    """An endpoint of MCP: its faults are JSON-RPC's, unless access control refuses."""
    either = {"anyOf": [ref("JsonRpc"), ref("Error")]}
    session = header("Mcp-Session-Id", "Of revisions with a handshake.", STRING)
    version = header("MCP-Protocol-Version", "The revision that is spoken.", STRING)
    codes = ("400", "401", "403", "404", "405", "406", "408", "413", "415", "429", "503")
    wrong = {code: answer(RESPONSES[code]["description"], json=either) for code in codes}
    return {
        "parameters": [session, version],
        "post": {
            "operationId": f"{name}Send",
            "summary": f"MCP over Streamable HTTP: {what}",
            "parameters": [query("toolsets", STRING, "Names of toolsets, between commas.")],
            "requestBody": {
                "required": True,
                "content": {JSON: {"schema": {"anyOf": [ref("Message"), listed(ref("Message"))]}}},
            },
            "responses": {
                "200": answer("The answer.", json={"type": ["object", "array"]}, events=STRING),
                "202": answer("A notification or an answer was taken."),
                **wrong,
            },
        },
        "get": {
            "operationId": f"{name}Listen",
            "summary": "News for a session",
            "responses": {"200": answer("A stream.", events=STRING), **wrong},
        },
        "delete": {
            "operationId": f"{name}End",
            "summary": "End a session",
            "responses": {"200": answer("It has ended.", json=OBJECT), **wrong},
        },
    }


def _reading(id: str, summary: str, good: Json, *codes: int, **more: Any) -> Json:
    responses = {"200": good, **faults(*codes)}
    return {"get": {"operationId": id, "summary": summary, "responses": responses, **more}}


def _doing(id: str, summary: str, good: Json, *codes: int, **more: Any) -> Json:
    responses = {"200": good, **faults(429, *codes)}
    return {"post": {"operationId": id, "summary": summary, "responses": responses, **more}}


def _told(description: str, **properties: Json) -> Json:
    return answer(description, json=record(**properties))


MCP = _mcp("mcp", "the tools of the chosen toolsets")
GATEWAY = _mcp("gateway", "two tools, by which all others are found and called")
SSE = _reading(
    "sseListen",
    "MCP over HTTP+SSE: the stream of a session",
    answer("Events: endpoint, message, ping, error.", events=STRING),
    400,
    406,
    429,
    parameters=[query("toolsets", STRING, "Names of toolsets, between commas.")],
)
MESSAGE: Json = {
    "post": {
        "operationId": "sseSend",
        "summary": "MCP over HTTP+SSE: a message to the server",
        "parameters": [
            {**query("sessionId", STRING, "As the event endpoint told."), "required": True}
        ],
        "requestBody": {"required": True, "content": {JSON: {"schema": ref("Message")}}},
        "responses": {
            "202": _told("It was taken; the answer comes on the stream.", status=STRING),
            **faults(400, 404, 408, 413, 415, 429),
        },
    }
}
HEALTH = _reading(
    "health",
    "Whether the server is alive; with a token, how it is",
    _told("It is.", status=STRING),
    parameters=[
        query("challenge", STRING, "What the server is to prove its secret with."),
        query("client", STRING, "The label of a token by which it is to prove itself, too."),
    ],
)
OPENAPI = _reading("openapi", "This description", _told("It.", openapi=STRING, paths=OBJECT))
WS_INFO = _reading("wsInfo", "Where the extension connects", _told("The address.", wsUrl=STRING))
SETTINGS = _reading(
    "settings",
    "The settings in force, and where the file says otherwise",
    _told(
        "Them; `fault` says what is wrong with the file, if it cannot be read.",
        settings=OBJECT,
        differs=listed(STRING),
        fault={"type": ["string", "null"]},
    ),
)
AUDIT = _reading(
    "audit",
    "What was done, the newest first",
    answer("Entries.", json=listed(record(timestamp=STRING, tool=STRING, success=BOOLEAN))),
    400,
    parameters=of_query(AuditQuery),
)
METRICS = _reading("metrics", "Figures for Prometheus", answer("Them.", text=STRING))
RELOAD = _doing(
    "reload",
    "Read settings, rules and plugins anew",
    _told(
        "It is done; `restart`, if it is there, names settings that wait for the next start.",
        ok=BOOLEAN,
        plugins=INTEGER,
        durationMs=INTEGER,
    ),
    400,
)
RELOAD_EXTENSION = _doing(
    "reloadExtension", "Let the extension start anew", _told("It was told.", ok=BOOLEAN)
)
PLUGIN_SETTINGS = _doing(
    "configurePlugin",
    "Change the settings of a plugin",
    _told("They are in force.", ok=BOOLEAN),
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
