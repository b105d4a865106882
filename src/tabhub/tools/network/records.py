"""What tabhub records of a tab: how results show records, and the tools for console messages."""

from collections.abc import Iterable, Sequence

from tabhub.audit.redaction import MARK, Redactor
from tabhub.audit.secret_patterns import is_secret_name
from tabhub.calls.marks import escaped, fenced, fenced_lines
from tabhub.calls.results import done
from tabhub.tools.reports import MAX_TOKENS, counted, fitting, timestamp, with_tabs
from tabhub.tools.tool import BROWSER, CLAUDE, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

DEFAULT_LIMIT = 100
LIMIT: Json = {
    "type": "integer",
    "minimum": 1,
    "maximum": 10_000,
    "description": f"Default {DEFAULT_LIMIT}.",
}
CLEAR: Json = {"type": "boolean", "description": "Empty the record after this."}
HEADERS = ("requestHeaders", "responseHeaders")
LEVELS = ("all", "log", "warn", "error", "info", "debug")
_MESSAGE = "console message"
_redactor = Redactor()


def record_span(output: Json) -> str:
    """Since when the record reaches back, so that its start is not taken for the page's."""
    parts = [f"Recorded since {timestamp(output['began'])}"]
    if output.get("urlFilter"):
        parts.append(f"only addresses with {output['urlFilter']!r}")
    if output["dropped"]:
        parts.append(f"{output['dropped']} older ones were dropped")
    return "; ".join(parts) + "."


def latest_entries(
    context: Context, output: Json, name: str, thing: str, lines: Sequence[str]
) -> CallResult:
    """The latest entries of a record, as many as maxTokens allows; the data has them as `name`."""
    entries, total = output["entries"], output["total"]
    kept = fitting(reversed(lines), context.arguments)[::-1]
    body = [fenced_lines(kept)] if kept else []
    if len(kept) < total:
        hint = "A larger limit or maxTokens, or a filter, shows more."
        body.append(f"(The latest {len(kept)} of {total}. {hint})")
    head = f"{counted(total, thing)}. {record_span(output)}"
    data = record_data(context, output, name, entries[len(entries) - len(kept) :])
    return done("\n".join([head, *body]), data)


def record_data(context: Context, output: Json, name: str, entries: list[Json]) -> Json:
    return {
        "tabId": context.tab.id,
        name: entries,
        "total": output["total"],
        "began": output["began"],
    }


def masked_headers(headers: Iterable[Sequence[str]]) -> list[Json]:
    """Headers with credentials masked."""
    return [
        {"name": name, "value": MARK if is_secret_name(name) else value} for name, value in headers
    ]


def masked(request: Json) -> Json:
    """A request with credentials masked."""
    request = dict(request)
    for key in HEADERS:
        if key in request:
            request[key] = masked_headers(request[key])
    if "postData" in request:
        request["postData"] = _redactor.text(request["postData"])
    return request


async def _get_console_logs(context: Context) -> CallResult:
    arguments = context.arguments
    names = ("level", "pattern", "clear")
    input: Json = {key: arguments[key] for key in names if key in arguments}
    input |= {"limit": arguments.get("limit", DEFAULT_LIMIT), "newest": True}
    output = await context.in_tab("record.console", input)
    lines = [_line(entry) for entry in output["entries"]]
    return latest_entries(context, output, "entries", _MESSAGE, lines)


def _line(entry: Json) -> str:
    return f"[{timestamp(entry['time'])}] {_level(entry)} {entry['text']}{_place(entry)}"


def _level(entry: Json) -> str:
    word: str = entry["source"] if entry["source"] == "exception" else entry["level"]
    return word.upper()


def _place(entry: Json) -> str:
    if not entry["url"]:
        return ""
    numbers = (entry.get("line"), entry.get("column"))
    position = [entry["url"], *(str(number) for number in numbers if number is not None)]
    return f" ({':'.join(position)})"


async def _clear_console_logs(context: Context) -> CallResult:
    cleared = (await context.in_tab("record.clearConsole", {}))["cleared"]
    sentence = f"Cleared {counted(cleared, _MESSAGE)} of tab {context.tab.id}."
    return done(sentence, {"tabId": context.tab.id, "cleared": cleared})


async def _read_console_messages(context: Context) -> CallResult:
    arguments = context.arguments
    only_errors = arguments.get("onlyErrors", False)
    input: Json = {key: arguments[key] for key in ("pattern", "clear") if key in arguments}
    level = "error" if only_errors else "all"
    input |= {"limit": arguments.get("limit", DEFAULT_LIMIT), "level": level}
    output = await context.in_tab("record.console", input)
    entries = output["entries"]
    kept = fitting((_block(number, entry) for number, entry in enumerate(entries, 1)), arguments)
    head = _found(output, len(kept), only_errors, arguments.get("pattern"))
    body = [fenced("\n".join(kept))] if kept else []
    data = record_data(context, output, "entries", entries[: len(kept)])
    return done("\n".join([head, *body]), data)


def _found(output: Json, shown: int, only_errors: bool, pattern: str | None) -> str:
    total = output["total"]
    thing = "console error" if only_errors else _MESSAGE
    if not total:
        what = "were recorded" if pattern is None else f"match {pattern!r}"
        return f"No {thing}s {what}. {record_span(output)}"
    part = "" if shown == total else f" (showing first {shown} of {total})"
    return f"Found {counted(total, thing)}{part}. {record_span(output)}"


def _block(number: int, entry: Json) -> str:
    head = f"[{number}] [{timestamp(entry['time'])}] [{_level(entry)}]{_place(entry)}"
    return f"{escaped(head)}\n{escaped(entry['text'])}"


_PATTERN: Json = {
    "type": "string",
    "description": "A regular expression (JavaScript's, without lookaround) for the text.",
}

GET_CONSOLE_LOGS = browser_tool(
    name="browser_get_console_logs",
    title="Console logs",
    description=(
        "The latest console messages, uncaught exceptions and warnings of the browser, of all "
        "frames and workers. Tabs that agents open are recorded from the beginning."
    ),
    handler=_get_console_logs,
    properties={
        "level": {"enum": list(LEVELS), "description": "Default all."},
        "pattern": _PATTERN,
        "limit": LIMIT,
        "clear": CLEAR,
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    changes_when="clear",
    toolsets=BROWSER,
)

CLEAR_CONSOLE_LOGS = browser_tool(
    name="browser_clear_console_logs",
    title="Clear console logs",
    description="Forget the console messages that were recorded of a tab.",
    handler=_clear_console_logs,
    idempotent=True,
    toolsets=BROWSER,
)

READ_CONSOLE_MESSAGES = browser_tool(
    name="read_console_messages",
    title="Read console messages",
    description=(
        "Console messages and uncaught exceptions of a tab, the oldest first. Give a pattern: "
        "pages may log a lot."
    ),
    handler=with_tabs(_read_console_messages),
    properties={
        "pattern": _PATTERN,
        "limit": LIMIT,
        "onlyErrors": {"type": "boolean", "description": "Errors and exceptions only."},
        "clear": CLEAR,
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    changes_when="clear",
    same_as=("browser_get_console_logs",),
    aliases={"errorsOnly": "onlyErrors"},
    toolsets=CLAUDE,
)

TOOLS = (GET_CONSOLE_LOGS, CLEAR_CONSOLE_LOGS, READ_CONSOLE_MESSAGES)
