"""What pages say to their console, and what goes wrong in them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from tabhub.audit.redaction import MARK, Redactor
from tabhub.audit.secret_patterns import is_secret_name
from tabhub.calls.results import done, fenced
from tabhub.tools.reports import MAX_TOKENS, fitting, with_tabs
from tabhub.tools.tool import BROWSER, CLAUDE, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

LIMIT = 100
CLEAR: Json = {"type": "boolean", "description": "Empty the record after this."}
_redactor = Redactor()


def limit(usual: int = LIMIT) -> Json:
    return {
        "type": "integer",
        "minimum": 1,
        "maximum": 10_000,
        "description": f"Default {usual}.",
    }


def clock(milliseconds: float) -> str:
    """A moment, as a person reads it: in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def since(output: Json) -> str:
    """How far the record reaches back: nobody should take its beginning for the page's."""
    parts = [f"Recorded since {clock(output['began'])}"]
    if output.get("urlFilter"):
        parts.append(f"only addresses with {output['urlFilter']!r}")
    if output["dropped"]:
        parts.append(f"{output['dropped']} older ones have given way")
    return "; ".join(parts) + "."


def counted(count: int, thing: str) -> str:
    return f"1 {thing}" if count == 1 else f"{count} {thing}s"


def latest(lines: list[str], given: Json) -> list[str]:
    """The last lines, as many as maxTokens allows."""
    return fitting(reversed(lines), given)[::-1]


def left_out(shown: int, total: int) -> list[str]:
    if shown == total:
        return []
    return [
        f"(The latest {shown} of {total}. A larger limit or maxTokens, or a filter, shows more.)"
    ]


def masked_headers(headers: Iterable[Sequence[str]]) -> list[Json]:
    """Headers without what lets somebody in."""
    return [{"name": name, "value": _masked(name, value)} for name, value in headers]


def _masked(name: str, value: str) -> str:
    return MARK if is_secret_name(name) else value


def masked_text(text: str) -> str:
    """What a page has sent, without passwords and their like."""
    return _redactor.text(text)


_HEADERS = ("requestHeaders", "responseHeaders")


def masked(request: Json) -> Json:
    """A request without credentials."""
    told = dict(request)
    for key in _HEADERS:
        if key in told:
            told[key] = masked_headers(told[key])
    if "postData" in told:
        told["postData"] = masked_text(told["postData"])
    return told


def without_credentials(waiting: list[Json]) -> list[Json]:
    """Requests as they may be told."""
    return [{**masked(one), "headers": _masked_values(one["headers"])} for one in waiting]


def _masked_values(headers: Mapping[str, str]) -> Json:
    return {one["name"]: one["value"] for one in masked_headers(headers.items())}


def waiting_lines(output: Json) -> list[str]:
    """What waits, and what has waited too long."""
    waiting = output.get("waiting", ())
    lines = [f"- {one['requestId']}: {request_line(one)}" for one in waiting]
    late = [f"- {one['requestId']} {one['how']}: {one['url']}" for one in output.get("overdue", ())]
    more = f" and {output['leftOut']} more (raise maxTokens)" if "leftOut" in output else ""
    said = [f"Waiting: {len(lines)}{more}, each for at most 30 seconds.", fenced("\n".join(lines))]
    past = [f"Went on without an answer: {len(late)}.", fenced("\n".join(late))]
    return [*(said if lines else ["No request is waiting."]), *(past if late else [])]


def request_line(one: Json) -> str:
    return f"{one['method']} {one['url']} ({one['resourceType']})"


LEVELS = ("all", "log", "warn", "error", "info", "debug")
_THING = "console message"


async def _get_logs(context: Context) -> CallResult:
    given = context.arguments
    input: Json = {key: given[key] for key in ("level", "pattern", "clear") if key in given}
    input |= {"limit": given.get("limit", LIMIT), "newest": True}
    output = await context.in_tab("record.console", input)
    entries, total = output["entries"], output["total"]
    lines = latest([_line(entry) for entry in entries], given)
    shown = entries[len(entries) - len(lines) :]
    said = [fenced("\n".join(lines))] if lines else []
    text = [f"{counted(total, _THING)}. {since(output)}", *said, *left_out(len(lines), total)]
    return done("\n".join(text), _shape(context, output, shown))


def _line(entry: Json) -> str:
    return f"[{clock(entry['time'])}] {_level(entry)} {entry['text']}{_place(entry)}"


def _level(entry: Json) -> str:
    word: str = entry["source"] if entry["source"] == "exception" else entry["level"]
    return word.upper()


def _place(entry: Json) -> str:
    return f" ({_position(entry)})" if entry["url"] else ""


def _position(entry: Json) -> str:
    numbers = (entry.get("line"), entry.get("column"))
    return ":".join([entry["url"], *(str(number) for number in numbers if number is not None)])


def _shape(context: Context, output: Json, entries: list[Json]) -> Json:
    return {
        "tabId": context.tab.id,
        "entries": entries,
        "total": output["total"],
        "began": output["began"],
    }


async def _clear_logs(context: Context) -> CallResult:
    cleared = (await context.in_tab("record.clearConsole", {}))["cleared"]
    sentence = f"Cleared {counted(cleared, _THING)} of tab {context.tab.id}."
    return done(sentence, {"tabId": context.tab.id, "cleared": cleared})


async def _read_messages(context: Context) -> CallResult:
    given = context.arguments
    only_errors = given.get("onlyErrors", False)
    input: Json = {key: given[key] for key in ("pattern", "clear") if key in given}
    input |= {"limit": given.get("limit", LIMIT), "level": "error" if only_errors else "all"}
    output = await context.in_tab("record.console", input)
    blocks = [_block(number, entry) for number, entry in enumerate(output["entries"], 1)]
    shown = fitting(blocks, given)
    text = [
        _found(output, len(shown), only_errors, given.get("pattern")),
        *([fenced("\n".join(shown))] if shown else []),
    ]
    return done("\n".join(text), _shape(context, output, output["entries"][: len(shown)]))


def _found(output: Json, shown: int, only_errors: bool, pattern: str | None) -> str:
    total = output["total"]
    thing = "console error" if only_errors else _THING
    if not total:
        what = "were recorded" if pattern is None else f"match {pattern!r}"
        return f"No {thing}s {what}. {since(output)}"
    part = "" if shown == total else f" (showing first {shown} of {total})"
    return f"Found {counted(total, thing)}{part}. {since(output)}"


def _block(number: int, entry: Json) -> str:
    place = f" ({_position(entry)})" if entry["url"] else ""
    return f"[{number}] [{clock(entry['time'])}] [{_level(entry)}]{place}\n{entry['text']}"


_PATTERN: Json = {
    "type": "string",
    "description": "A regular expression (JavaScript's, without lookaround) for the text.",
}

GET_CONSOLE_LOGS = browser_tool(
    name="browser_get_console_logs",
    title="Console logs",
    description=(
        "The latest console messages, uncaught exceptions and complaints of the browser, of all "
        "frames and workers. Tabs that agents open are recorded from the beginning."
    ),
    handler=_get_logs,
    properties={
        "level": {"enum": list(LEVELS), "description": "Default all."},
        "pattern": _PATTERN,
        "limit": limit(),
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
    handler=_clear_logs,
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
    handler=with_tabs(_read_messages),
    properties={
        "pattern": _PATTERN,
        "limit": limit(),
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
