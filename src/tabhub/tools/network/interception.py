"""Requests of a tab that wait until the agent answers them, changes them or lets them go on."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from tabhub.audit.redaction import MARK
from tabhub.calls.results import done
from tabhub.errors import InvalidArguments
from tabhub.tools.network.records import request_line, waiting_lines, without_credentials
from tabhub.tools.reports import MAX_TOKENS, fitting
from tabhub.tools.tool import BROWSER, Context, Json, address, browser_tool
from tabhub.wire.mcp.messages import CallResult

FAILURES = (
    "Failed",
    "Aborted",
    "TimedOut",
    "AccessDenied",
    "ConnectionClosed",
    "ConnectionRefused",
    "ConnectionReset",
)
_PATTERN = re.compile(r"(?:[*?]|[A-Za-z][A-Za-z0-9+.*?-]*:).*", re.DOTALL)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00\r\n]*")


async def _start(context: Context) -> CallResult:
    patterns = context.arguments.get("urlPatterns", ["*"])
    for pattern in patterns:
        if not _PATTERN.fullmatch(pattern):
            raise InvalidArguments(
                f"The pattern {pattern!r} would match no address: it begins with a scheme or *."
            )
    output = await context.in_tab("intercept.start", {"urlPatterns": patterns})
    sites = output["sites"]
    only = "" if sites is None else f" Rules depend on the site here: only of {', '.join(sites)}."
    return _told(context, f"Requests to {', '.join(patterns)} are held.{only}", output)


async def _list(context: Context) -> CallResult:
    timeout = min(context.arguments.get("timeout", 0), context.wait_ms)
    output = await context.in_tab("intercept.list", {"timeoutMs": timeout})
    kept = len(fitting(map(request_line, output["waiting"]), context.arguments))
    left_out = len(output["waiting"]) - kept
    output["waiting"] = output["waiting"][:kept]
    if left_out:
        output["leftOut"] = left_out
    return _told(context, f"Intercepted requests of tab {context.tab.id}:", output)


async def _fulfill(context: Context) -> CallResult:
    given = context.arguments
    answer = {"how": "fulfill", **_passed(given, "requestId", "status")}
    output = await _answer(context, {**answer, **_headers(given), **_body(given)})
    return _told(context, f"{given['requestId']} is answered with {given['status']}.", output)


async def _fail(context: Context) -> CallResult:
    given = context.arguments
    why = given.get("errorReason", FAILURES[0])
    answer = {"how": "fail", "requestId": given["requestId"], "errorReason": why}
    return _told(context, f"{given['requestId']} fails ({why}).", await _answer(context, answer))


async def _continue(context: Context) -> CallResult:
    given = context.arguments
    answer = {"how": "continue", **_passed(given, "requestId", "method")}
    if "url" in given:
        answer["url"] = address(given["url"])
    # What was told as a mark is not known to the agent, and stays as it is.
    own = [name for name, value in given.get("headers", {}).items() if value == MARK]
    kept = {"keepHeaders": own} if own else {}
    output = await _answer(context, {**answer, **_headers(given), **kept, **_body(given)})
    return _told(context, f"{given['requestId']} goes on.", output)


async def _stop(context: Context) -> CallResult:
    output = await context.in_tab("intercept.stop", {})
    count = output["continued"]
    told = f"Nothing is intercepted any more; {count} waiting requests go on."
    return done(told, {"tabId": context.tab.id, "continued": count})


async def _answer(context: Context, answer: Json) -> Json:
    output: Json = await context.in_tab("intercept.answer", answer)
    return output


def _told(context: Context, head: str, output: Json) -> CallResult:
    shown = {**output, "waiting": without_credentials(output["waiting"])}
    return done("\n".join([head, *waiting_lines(shown)]), {"tabId": context.tab.id, **shown})


def _passed(given: Mapping[str, Any], *names: str) -> Json:
    return {name: given[name] for name in names if name in given}


def _headers(given: Mapping[str, Any]) -> Json:
    for name, value in given.get("headers", {}).items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise InvalidArguments(f"{name!r} or its value is not a header that can be sent.")
    return _passed(given, "headers")


def _body(given: Mapping[str, Any]) -> Json:
    """The body as the browser takes it, in base64."""
    if "body" not in given:
        return {}
    if not given.get("base64"):
        return {"body": base64.b64encode(given["body"].encode()).decode()}
    try:
        base64.b64decode(given["body"], validate=True)
    except binascii.Error:
        raise InvalidArguments("The body is not base64.") from None
    return {"body": given["body"]}


_ID: Json = {"type": "string"}
_HEADERS: Json = {"type": "object", "additionalProperties": {"type": "string"}}
_BODY: Json = {
    "body": {"type": "string"},
    "base64": {"type": "boolean", "description": "The body is base64. Default false."},
}
_SECRET = frozenset({"headers", "body"})

INTERCEPT_REQUESTS = browser_tool(
    name="browser_intercept_requests",
    title="Intercept requests",
    description=(
        "Hold the tab's requests until you fulfill, fail or continue each. One that waits for 30 "
        "seconds goes on by itself. Navigating then returns as soon as a request waits."
    ),
    handler=_start,
    properties={
        "urlPatterns": {
            "type": "array",
            "minItems": 1,
            "maxItems": 100,
            "items": {"type": "string", "minLength": 1, "maxLength": 2000},
            "description": "Whole addresses, * and ? stand for anything. Default all.",
        }
    },
    toolsets=BROWSER,
)

LIST_INTERCEPTED = browser_tool(
    name="browser_list_intercepted",
    title="List intercepted requests",
    description="The requests that wait for your answer, and those that waited too long.",
    handler=_list,
    properties={
        "timeout": {
            "type": "integer",
            "minimum": 0,
            "description": "Milliseconds to wait for one. Default 0.",
        },
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    toolsets=BROWSER,
)

FULFILL_REQUEST = browser_tool(
    name="browser_fulfill_request",
    title="Fulfill request",
    description="Answer a waiting request yourself.",
    handler=_fulfill,
    properties={
        "requestId": _ID,
        "status": {"type": "integer", "minimum": 100, "maximum": 599},
        "headers": _HEADERS,
        **_BODY,
    },
    required=("requestId", "status"),
    secret_arguments=_SECRET,
    # An answer to a request for a page or a script is a script.
    same_as=("browser_execute_script",),
    toolsets=BROWSER,
)

FAIL_REQUEST = browser_tool(
    name="browser_fail_request",
    title="Fail request",
    description="Let a waiting request fail.",
    handler=_fail,
    properties={
        "requestId": _ID,
        "errorReason": {"enum": list(FAILURES), "description": f"Default {FAILURES[0]}."},
    },
    required=("requestId",),
    toolsets=BROWSER,
)

CONTINUE_REQUEST = browser_tool(
    name="browser_continue_request",
    title="Continue request",
    description="Let a waiting request go on, changed if you like.",
    handler=_continue,
    properties={
        "requestId": _ID,
        "url": {"type": "string", "description": "Where to, without the page's knowing."},
        "method": {"type": "string", "pattern": "^[A-Za-z]{1,20}$"},
        "headers": {**_HEADERS, "description": f"Instead of all its own; {MARK} keeps one."},
        **_BODY,
    },
    required=("requestId",),
    secret_arguments=_SECRET,
    toolsets=BROWSER,
)

STOP_INTERCEPTING = browser_tool(
    name="browser_stop_intercepting",
    title="Stop intercepting",
    description="Hold no more requests; those that wait go on.",
    handler=_stop,
    idempotent=True,
    toolsets=BROWSER,
)

TOOLS = (
    INTERCEPT_REQUESTS,
    LIST_INTERCEPTED,
    FULFILL_REQUEST,
    FAIL_REQUEST,
    CONTINUE_REQUEST,
    STOP_INTERCEPTING,
)
