"""The requests of a tab and its web sockets, as tabhub has recorded them."""

from tabhub.calls.marks import escaped, fenced
from tabhub.calls.results import done
from tabhub.errors import InvalidArguments
from tabhub.tools.network.records import (
    CLEAR,
    DEFAULT_LIMIT,
    HEADERS,
    LIMIT,
    latest_entries,
    masked,
    record_data,
    record_span,
)
from tabhub.tools.reports import MAX_TOKENS, char_limit, counted, fitting, timestamp, with_tabs
from tabhub.tools.tool import BROWSER, CLAUDE, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

BODY_CHARS = 100_000
FRAME_CHARS = 200
_SIZES = {
    "maxRequests": "networkEntries",
    "maxConsoleLogs": "consoleEntries",
    "maxWsFrames": "socketFrames",
    "urlFilter": "urlFilter",
}
"""The tool's parameters, and the input of the command."""


async def _get_requests(context: Context) -> CallResult:
    arguments = context.arguments
    if "requestId" in arguments:
        return await _get_request(context)
    if arguments.get("body"):
        raise InvalidArguments("browser_get_network_requests: body needs a requestId.")
    names = ("urlPattern", "since", "clear")
    input: Json = {key: arguments[key] for key in names if key in arguments}
    input |= {"limit": arguments.get("limit", DEFAULT_LIMIT), "newest": True}
    output = await context.in_tab("record.network", input)
    lines = [_request_line(request) for request in output["entries"]]
    return latest_entries(context, output, "requests", "request", lines)


def _request_line(request: Json) -> str:
    known = [request.get("mimeType"), _size(request), _duration(request)]
    details = ", ".join(part for part in known if part)
    return (
        f"{request['requestId']}: {request['method'] or '?'} {request['url']} "
        f"{_outcome(request)} {request['type']}{f' ({details})' if details else ''}"
    )


def _outcome(request: Json) -> str:
    if request.get("failed"):
        return f"failed: {request['failed']}"
    if request.get("redirectedTo"):
        return f"{request['status']} to {request['redirectedTo']}"
    if request.get("status") is None:
        return "no answer yet" if not request.get("fromTiming") else "status unknown"
    return f"{request['status']}{' from cache' if request.get('fromCache') else ''}"


def _size(request: Json) -> str | None:
    size = request.get("bodySize") or request.get("size")
    return f"{size / 1000:.1f} kB" if size else None


def _duration(request: Json) -> str | None:
    return f"{request['duration']} ms" if "duration" in request else None


async def _get_request(context: Context) -> CallResult:
    arguments = context.arguments
    input: Json = {"requestId": arguments["requestId"]}
    if arguments.get("body"):
        input["body"] = char_limit(arguments, "maxLength", BODY_CHARS)
    request = masked((await context.in_tab("record.request", input))["request"])
    started = f"started: {timestamp(request['started'])}"
    lines = [_request_line(request), started, f"page: {request['page']}"]
    for key in HEADERS:
        headers = request.get(key, [])
        lines += [f"{key}:", *(f"  {header['name']}: {header['value']}" for header in headers)]
    if "postData" in request:
        lines += ["postData:", request["postData"]]
    lines = [*map(escaped, lines)]
    lines += _body_lines(request.get("body"))
    return done(fenced("\n".join(lines)), {"tabId": context.tab.id, "requests": [request]})


def _body_lines(body: Json | None) -> list[str]:
    if body is None:
        return []
    if "unavailable" in body:
        return [f"body: unavailable, because {body['unavailable']}"]
    kind = "body, in base64:" if body["base64"] else "body:"
    cut = [f"(Cut: {body['length']} characters in all.)"] if "length" in body else []
    return [kind, body["text"], *cut]


async def _get_frames(context: Context) -> CallResult:
    arguments = context.arguments
    input: Json = {key: arguments[key] for key in ("urlPattern", "clear") if key in arguments}
    input |= {"limit": arguments.get("limit", DEFAULT_LIMIT), "newest": True}
    output = await context.in_tab("record.sockets", input)
    lines = [_frame_line(frame) for frame in output["entries"]]
    return latest_entries(context, output, "frames", "frame", lines)


def _frame_line(frame: Json) -> str:
    arrow = "->" if frame["direction"] == "sent" else "<-"
    data: str = frame["data"][:FRAME_CHARS]
    more = f"… ({frame['length']} characters)" if frame["length"] > len(data) else ""
    kind = " base64" if frame["base64"] else ""
    return f"[{timestamp(frame['time'])}] {frame['requestId']} {arrow}{kind} {data}{more}"


async def _enable(context: Context) -> CallResult:
    input = {_SIZES[key]: value for key, value in context.arguments.items() if key in _SIZES}
    sizes = (await context.in_tab("record.start", input))["sizes"]
    requests = counted(sizes["networkEntries"], "request")
    messages = counted(sizes["consoleEntries"], "console message")
    only = f", only addresses with {sizes['urlFilter']!r}" if sizes.get("urlFilter") else ""
    sentence = f"Started a new record of tab {context.tab.id}: the latest {requests} and {messages}"
    return done(f"{sentence}{only}.", {"tabId": context.tab.id, **sizes})


async def _disable(context: Context) -> CallResult:
    await context.in_tab("record.stop", {})
    sentence = (
        f"Tab {context.tab.id} is no longer recorded, and its record is deleted. "
        "browser_enable_network_capture starts a new one."
    )
    return done(sentence, {"tabId": context.tab.id})


async def _read_requests(context: Context) -> CallResult:
    arguments = context.arguments
    pattern, clear = arguments.get("urlPattern"), arguments.get("clear", False)
    input: Json = {"limit": arguments.get("limit", DEFAULT_LIMIT), "clear": clear}
    if pattern is not None:
        input["urlPattern"] = pattern
    output = await context.in_tab("record.network", input)
    entries = output["entries"]
    kept = fitting((_block(number, entry) for number, entry in enumerate(entries, 1)), arguments)
    head, body = _found(output, len(kept), pattern), [fenced("\n".join(kept))] if kept else []
    data = record_data(context, output, "requests", entries[: len(kept)])
    return done("\n".join([head, *body]), data)


def _found(output: Json, shown: int, pattern: str | None) -> str:
    total = output["total"]
    about = "" if pattern is None else f" with {pattern!r} in their address"
    if not total:
        return f"No requests{about} were recorded. {record_span(output)}"
    part = "" if shown == total else f" (showing first {shown} of {total})"
    return f"Found {counted(total, 'request')}{about}{part}. {record_span(output)}"


def _block(number: int, request: Json) -> str:
    status = request.get("failed") or request.get("status") or "pending"
    method = request["method"] or "unknown"
    parts = (f"[{number}] url: {request['url']}", f"  method: {method}", f"  statusCode: {status}")
    return "\n".join(map(escaped, parts))


_SUBSTRING: Json = {"type": "string", "description": "Only addresses that contain this."}
_COUNT: Json = {"type": "integer", "minimum": 1, "maximum": 100_000}

ENABLE_NETWORK_CAPTURE = browser_tool(
    name="browser_enable_network_capture",
    title="Enable network capture",
    description=(
        "Start a new record of a tab, with its own limits and filter. Tabs are recorded without "
        "this too: those that agents open from the beginning, others from their first use."
    ),
    handler=_enable,
    properties={
        "maxRequests": _COUNT,
        "urlFilter": _SUBSTRING,
        "maxConsoleLogs": _COUNT,
        "maxWsFrames": _COUNT,
    },
    toolsets=BROWSER,
)

DISABLE_NETWORK_CAPTURE = browser_tool(
    name="browser_disable_network_capture",
    title="Disable network capture",
    description="Stop recording a tab, and delete its record.",
    handler=_disable,
    idempotent=True,
    toolsets=BROWSER,
)

GET_NETWORK_REQUESTS = browser_tool(
    name="browser_get_network_requests",
    title="Network requests",
    description=(
        "The latest requests of a tab, its frames and workers; with requestId one of them with "
        "headers, and with body what it sent and received. Credentials in headers are masked."
    ),
    handler=_get_requests,
    properties={
        "urlPattern": _SUBSTRING,
        "since": {"type": "number", "description": "Only those started since; ms since 1970."},
        "limit": LIMIT,
        "requestId": {"type": "string"},
        "body": {"type": "boolean"},
        "maxLength": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1_000_000,
            "description": f"Of a body. Default {BODY_CHARS}.",
        },
        "clear": CLEAR,
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    changes_when="clear",
    toolsets=BROWSER,
)

GET_WEBSOCKET_FRAMES = browser_tool(
    name="browser_get_websocket_frames",
    title="WebSocket frames",
    description="The latest frames of a tab's web sockets.",
    handler=_get_frames,
    properties={
        "urlPattern": _SUBSTRING,
        "limit": LIMIT,
        "clear": CLEAR,
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    changes_when="clear",
    toolsets=BROWSER,
)

READ_NETWORK_REQUESTS = browser_tool(
    name="read_network_requests",
    title="Read network requests",
    description="The requests of a tab, the oldest first.",
    handler=with_tabs(_read_requests),
    properties={
        "urlPattern": _SUBSTRING,
        "limit": LIMIT,
        "clear": CLEAR,
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    changes_when="clear",
    same_as=("browser_get_network_requests",),
    aliases={"pattern": "urlPattern"},
    toolsets=CLAUDE,
)

TOOLS = (
    ENABLE_NETWORK_CAPTURE,
    DISABLE_NETWORK_CAPTURE,
    GET_NETWORK_REQUESTS,
    GET_WEBSOCKET_FRAMES,
    READ_NETWORK_REQUESTS,
)
