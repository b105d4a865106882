"""The recorded requests of a tab as HAR (HTTP Archive 1.2), a format that other tools open."""

from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

import msgspec

from tabhub import __version__
from tabhub.audit.redaction import MARK
from tabhub.calls.marks import fenced
from tabhub.calls.results import done
from tabhub.errors import ProtocolError
from tabhub.tools.files import save
from tabhub.tools.network.records import CLEAR, masked, record_span
from tabhub.tools.reports import MAX_TOKENS, counted, timestamp, token_chars
from tabhub.tools.tool import BROWSER, FILE_PATH, Context, Json, browser_tool, writing
from tabhub.wire.mcp.messages import CallResult

BODY_CHARS = 3_000_000
INLINE_CHARS = 1_000_000
UNKNOWN = -1


async def _export(context: Context) -> CallResult:
    arguments = context.arguments
    name = arguments.get("filePath")
    path = None if name is None else context.place_file(name, (".har", ".json"))
    bodies = BODY_CHARS if arguments.get("includeBodies") else 0
    output = await context.in_tab("record.network", {"headers": True, "bodies": bodies})
    frames = await _frames(context) if arguments.get("includeWebSocketFrames") else []
    log = har(output["entries"], frames, context.tab.title)
    encoded = msgspec.json.encode(log)
    if path is None:
        _require_short(encoded, arguments)
    else:
        save(path, encoded)
    if arguments.get("clear"):
        await context.in_tab("record.network", {"limit": 1, "clear": True})
    count = len(output["entries"])
    head = f"{counted(count, 'request')} as HAR 1.2. {record_span(output)}"
    data: Json = {"tabId": context.tab.id, "entries": count}
    if path is not None:
        return done(f"{head} Saved as {path}.", {**data, "path": str(path)})
    return done(f"{head}\n{fenced(encoded.decode())}", {**data, "har": log})


def _require_short(encoded: bytes, arguments: Json) -> None:
    limit = min(token_chars(arguments) or INLINE_CHARS, INLINE_CHARS)
    if len(encoded) > limit:
        raise ProtocolError(
            f"The HAR has {len(encoded)} characters, more than {limit}: give filePath, or leave "
            "out bodies.",
            "too_large",
        )


async def _frames(context: Context) -> list[Json]:
    frames: list[Json] = (await context.in_tab("record.sockets", {}))["entries"]
    return frames


def har(requests: Iterable[Json], frames: Iterable[Json], title: str) -> Json:
    """The content of the file."""
    by_socket: dict[str, list[Json]] = {}
    for frame in frames:
        by_socket.setdefault(frame["requestId"], []).append(_frame(frame))
    pages: dict[str, Json] = {}
    entries = [
        _entry(masked(request), pages, by_socket.get(request["requestId"])) for request in requests
    ]
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "tabhub", "version": __version__},
            "pages": [page | {"title": title or page["title"]} for page in pages.values()],
            "entries": entries,
        }
    }


def _entry(request: Json, pages: dict[str, Json], frames: list[Json] | None) -> Json:
    started = timestamp(request["started"])
    page = pages.setdefault(request["page"], _page(f"page_{len(pages) + 1}", request, started))
    entry: Json = {
        "pageref": page["id"],
        "startedDateTime": started,
        "time": request.get("duration", 0),
        "request": _request(request),
        "response": _response(request),
        "cache": {},
        "timings": _timings(request),
        "_resourceType": request["type"],
    }
    if "remoteAddress" in request:
        entry["serverIPAddress"] = request["remoteAddress"].strip("[]")
    if "failed" in request:
        entry["_error"] = request["failed"]
    return entry if frames is None else entry | {"_webSocketMessages": frames}


def _page(id: str, request: Json, started: str) -> Json:
    return {"id": id, "startedDateTime": started, "title": request["page"], "pageTimings": {}}


def _request(request: Json) -> Json:
    headers: list[Json] = request.get("requestHeaders", [])
    entry: Json = {
        "method": request["method"] or "GET",
        "url": request["url"],
        "httpVersion": _version(request),
        "cookies": _cookies(headers, "cookie"),
        "headers": headers,
        "queryString": _query(request["url"]),
        "headersSize": UNKNOWN,
        "bodySize": len(request.get("postData", "").encode()),
    }
    if "postData" in request:
        mime = _header(headers, "content-type") or "text/plain"
        entry["postData"] = {"mimeType": mime, "params": [], "text": request["postData"]}
    return entry


def _response(request: Json) -> Json:
    headers: list[Json] = request.get("responseHeaders", [])
    return {
        "status": request.get("status", 0),
        "statusText": request.get("statusText", ""),
        "httpVersion": _version(request),
        "cookies": _cookies(headers, "set-cookie"),
        "headers": headers,
        "content": _content(request),
        "redirectURL": request.get("redirectedTo", ""),
        "headersSize": UNKNOWN,
        "bodySize": _whole(request.get("size")),
    }


def _content(request: Json) -> Json:
    content: Json = {
        "size": max(_whole(request.get("bodySize")), 0),
        "mimeType": request.get("mimeType", ""),
    }
    body: Json = request.get("body", {})
    if "unavailable" in body:
        content["comment"] = body["unavailable"]
    elif body:
        content["text"] = body["text"]
        if body["base64"]:
            content["encoding"] = "base64"
        if "length" in body:
            content["comment"] = f"cut: {body['length']} characters in all"
    return content


def _timings(request: Json) -> Json:
    """How long each part took, as far as the browser knows; the parts add up to the duration."""
    timing: Json = request.get("timing") or {}
    total = request.get("duration", 0)
    headers_end = timing.get("receiveHeadersEnd", 0) or 0
    wait = min(max(round(headers_end - (timing.get("sendEnd") or 0)), 0), total)
    send = min(max(round((timing.get("sendEnd") or 0) - (timing.get("sendStart") or 0)), 0), total)
    parts = {
        "dns": _span(timing, "dnsStart", "dnsEnd"),
        "connect": _span(timing, "connectStart", "connectEnd"),
        "ssl": _span(timing, "sslStart", "sslEnd"),
    }
    receive = max(total - round(headers_end), 0) if headers_end else total
    return {"blocked": UNKNOWN, **parts, "send": send, "wait": wait, "receive": receive}


def _span(timing: Json, first: str, last: str) -> float:
    start, end = timing.get(first, UNKNOWN), timing.get(last, UNKNOWN)
    return round(end - start, 3) if start >= 0 and end >= start else UNKNOWN


def _version(request: Json) -> str:
    return request.get("protocol") or "unknown"


def _query(url: str) -> list[Json]:
    pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    return [{"name": name, "value": value} for name, value in pairs]


def _cookies(headers: list[Json], name: str) -> list[Json]:
    """A masked placeholder if there were any cookies: headers are masked, so no names are known."""
    return [] if _header(headers, name) is None else [{"name": MARK, "value": MARK}]


def _header(headers: list[Json], name: str) -> str | None:
    values = (header["value"] for header in headers if header["name"].lower() == name)
    return next(values, None)


def _whole(size: float | None) -> int:
    return UNKNOWN if size is None else round(size)


def _frame(frame: Json) -> Json:
    kind = "send" if frame["direction"] == "sent" else "receive"
    return {
        "type": kind,
        "time": frame["time"] / 1000,
        "opcode": frame["opcode"],
        "data": frame["data"],
    }


EXPORT_HAR = browser_tool(
    name="browser_export_har",
    title="Export HAR",
    description=(
        "The recorded requests of a tab as HAR 1.2, for other tools to open. Credentials in "
        "headers are masked."
    ),
    handler=_export,
    properties={
        "includeBodies": {"type": "boolean", "description": "Also response bodies."},
        "includeWebSocketFrames": {"type": "boolean"},
        "filePath": FILE_PATH,
        "clear": CLEAR,
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    changes_when=lambda given: bool(given.get("filePath") or given.get("clear")),
    toolsets=BROWSER,
    does=writing,
)

TOOLS = (EXPORT_HAR,)
