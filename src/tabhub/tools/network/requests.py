"""The requests of pages: which there were, what they sent and got, and their web sockets."""

from tabhub.calls.results import done, fenced
from tabhub.errors import InvalidArguments
from tabhub.tools.network.records import (
    CLEAR,
    LIMIT,
    clock,
    counted,
    latest,
    left_out,
    limit,
    masked,
    since,
)
from tabhub.tools.reports import MAX_TOKENS, chars, fitting, with_tabs
from tabhub.tools.tool import BROWSER, CLAUDE, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

BODY_CHARS = 100_000
SHOWN_CHARS = 200
_HEADERS = ("requestHeaders", "responseHeaders")
_SIZES = {
    "maxRequests": "networkEntries",
    "maxConsoleLogs": "consoleEntries",
    "maxWsFrames": "socketFrames",
    "urlFilter": "urlFilter",
}


async def _get_requests(context: Context) -> CallResult:
    given = context.arguments
    if "requestId" in given:
        return await _one_request(context)
    if given.get("body"):
        raise InvalidArguments("browser_get_network_requests: body needs a requestId.")
    input: Json = {key: given[key] for key in ("urlPattern", "since", "clear") if key in given}
    input |= {"limit": given.get("limit", LIMIT), "newest": True}
    output = await context.in_tab("record.network", input)
    entries, total = output["entries"], output["total"]
    lines = latest([_line(entry) for entry in entries], given)
    shown = entries[len(entries) - len(lines) :]
    said = [fenced("\n".join(lines))] if lines else []
    text = [f"{counted(total, 'request')}. {since(output)}", *said, *left_out(len(lines), total)]
    return done("\n".join(text), _shape(context, output, "requests", shown))


def _shape(context: Context, output: Json, name: str, entries: list[Json]) -> Json:
    return {
        "tabId": context.tab.id,
        name: entries,
        "total": output["total"],
        "began": output["began"],
    }


def _line(entry: Json) -> str:
    known = [entry.get("mimeType"), _kilobytes(entry), _took(entry)]
    details = ", ".join(part for part in known if part)
    return (
        f"{entry['requestId']}: {entry['method'] or '?'} {entry['url']} "
        f"{_outcome(entry)} {entry['type']}{f' ({details})' if details else ''}"
    )


def _outcome(entry: Json) -> str:
    if entry.get("failed"):
        return f"failed: {entry['failed']}"
    if entry.get("redirectedTo"):
        return f"{entry['status']} to {entry['redirectedTo']}"
    if entry.get("status") is None:
        return "no answer yet" if not entry.get("fromTiming") else "status unknown"
    return f"{entry['status']}{' from cache' if entry.get('fromCache') else ''}"


def _kilobytes(entry: Json) -> str | None:
    size = entry.get("bodySize") or entry.get("size")
    return f"{size / 1000:.1f} kB" if size else None


def _took(entry: Json) -> str | None:
    return f"{entry['duration']} ms" if "duration" in entry else None


async def _one_request(context: Context) -> CallResult:
    given = context.arguments
    input: Json = {"requestId": given["requestId"]}
    if given.get("body"):
        input["body"] = chars(given, "maxLength", BODY_CHARS)
    told = masked((await context.in_tab("record.request", input))["request"])
    lines = [_line(told), f"started: {clock(told['started'])}", f"page: {told['page']}"]
    for key in _HEADERS:
        lines += [f"{key}:", *(f"  {one['name']}: {one['value']}" for one in told.get(key, []))]
    if "postData" in told:
        lines += ["postData:", told["postData"]]
    lines += _body(told.get("body"))
    return done(fenced("\n".join(lines)), {"tabId": context.tab.id, "requests": [told]})


def _body(body: Json | None) -> list[str]:
    if body is None:
        return []
    if "unavailable" in body:
        return [f"body: unavailable, because {body['unavailable']}"]
    kind = "body, in base64:" if body["base64"] else "body:"
    cut = [f"(Cut: {body['length']} characters in all.)"] if "length" in body else []
    return [kind, body["text"], *cut]


async def _get_frames(context: Context) -> CallResult:
    given = context.arguments
    input: Json = {key: given[key] for key in ("urlPattern", "clear") if key in given}
    input |= {"limit": given.get("limit", LIMIT), "newest": True}
    output = await context.in_tab("record.sockets", input)
    entries, total = output["entries"], output["total"]
    lines = latest([_frame_line(frame) for frame in entries], given)
    said = [fenced("\n".join(lines))] if lines else []
    text = [f"{counted(total, 'frame')}. {since(output)}", *said, *left_out(len(lines), total)]
    shown = entries[len(entries) - len(lines) :]
    return done("\n".join(text), _shape(context, output, "frames", shown))


def _frame_line(frame: Json) -> str:
    arrow = "->" if frame["direction"] == "sent" else "<-"
    data: str = frame["data"][:SHOWN_CHARS]
    more = f"… ({frame['length']} characters)" if frame["length"] > len(data) else ""
    kind = " base64" if frame["base64"] else ""
    return f"[{clock(frame['time'])}] {frame['requestId']} {arrow}{kind} {data}{more}"


async def _enable(context: Context) -> CallResult:
    given = context.arguments
    input = {_SIZES[key]: value for key, value in given.items() if key in _SIZES}
    sizes = (await context.in_tab("record.start", input))["sizes"]
    parts = [
        counted(sizes["networkEntries"], "request"),
        counted(sizes["consoleEntries"], "console message"),
    ]
    only = f", only addresses with {sizes['urlFilter']!r}" if sizes.get("urlFilter") else ""
    sentence = f"Recording tab {context.tab.id} anew: the latest {' and '.join(parts)}{only}."
    return done(sentence, {"tabId": context.tab.id, **sizes})


async def _disable(context: Context) -> CallResult:
    await context.in_tab("record.stop", {})
    sentence = (
        f"Tab {context.tab.id} is not recorded any more, and what was recorded is gone. "
        "browser_enable_network_capture begins again."
    )
    return done(sentence, {"tabId": context.tab.id})


async def _read_requests(context: Context) -> CallResult:
    given = context.arguments
    pattern = given.get("urlPattern")
    input: Json = {"limit": given.get("limit", LIMIT), "clear": given.get("clear", False)}
    if pattern is not None:
        input["urlPattern"] = pattern
    output = await context.in_tab("record.network", input)
    blocks = [_block(number, entry) for number, entry in enumerate(output["entries"], 1)]
    shown = fitting(blocks, given)
    text = [_found(output, len(shown), pattern), *([fenced("\n".join(shown))] if shown else [])]
    entries = output["entries"][: len(shown)]
    return done("\n".join(text), _shape(context, output, "requests", entries))


def _found(output: Json, shown: int, pattern: str | None) -> str:
    total = output["total"]
    about = "" if pattern is None else f" with {pattern!r} in their address"
    if not total:
        return f"No requests{about} were recorded. {since(output)}"
    part = "" if shown == total else f" (showing first {shown} of {total})"
    return f"Found {counted(total, 'request')}{about}{part}. {since(output)}"


def _block(number: int, entry: Json) -> str:
    status = entry.get("failed") or entry.get("status") or "pending"
    method = entry["method"] or "unknown"
    return f"[{number}] url: {entry['url']}\n  method: {method}\n  statusCode: {status}"


_SUBSTRING: Json = {"type": "string", "description": "Only addresses that contain this."}
_COUNT: Json = {"type": "integer", "minimum": 1, "maximum": 100_000}

ENABLE_NETWORK_CAPTURE = browser_tool(
    name="browser_enable_network_capture",
    title="Enable network capture",
    description=(
        "Record a tab anew, with limits and a filter of its own. Without this too, tabs are "
        "recorded: those that agents open from the beginning, others from their first use."
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
    description="Record a tab no longer, and forget what was recorded.",
    handler=_disable,
    idempotent=True,
    toolsets=BROWSER,
)

GET_NETWORK_REQUESTS = browser_tool(
    name="browser_get_network_requests",
    title="Network requests",
    description=(
        "The latest requests of a tab, its frames and workers; with requestId one of them with "
        "headers, and with body what it sent and got. Credentials in headers are masked."
    ),
    handler=_get_requests,
    properties={
        "urlPattern": _SUBSTRING,
        "since": {"type": "number", "description": "Only those started since; ms since 1970."},
        "limit": limit(),
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
    description="What went over a tab's web sockets lately.",
    handler=_get_frames,
    properties={
        "urlPattern": _SUBSTRING,
        "limit": limit(),
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
        "limit": limit(),
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
