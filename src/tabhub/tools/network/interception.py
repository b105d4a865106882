"""Intercepting requests: a request waits until the agent fulfills, fails or continues it."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from tabhub.audit.redaction import MARK
from tabhub.calls.marks import fenced_lines
from tabhub.calls.results import done
from tabhub.errors import InvalidArguments
from tabhub.tools.network.records import masked, masked_headers
from tabhub.tools.reports import MAX_TOKENS, counted, fitting
from tabhub.tools.tool import BROWSER, Context, Json, address, browser_tool
from tabhub.wire.abilities import Ability
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


def waiting_lines(output: Json) -> list[str]:
    """The requests that wait, and those that waited too long."""
    waiting = [f"- {item['requestId']}: {_line(item)}" for item in output.get("waiting", ())]
    overdue = [
        f"- {item['requestId']} {item['how']}: {item['url']}" for item in output.get("overdue", ())
    ]
    lines = ["No request is waiting."]
    if waiting:
        more = f" and {output['leftOut']} more (raise maxTokens)" if "leftOut" in output else ""
        head = f"Waiting: {len(waiting)}{more}, each for at most 30 seconds."
        lines = [head, fenced_lines(waiting)]
    if overdue:
        lines += [f"Continued without an answer: {len(overdue)}.", fenced_lines(overdue)]
    return lines


def _line(request: Json) -> str:
    return f"{request['method']} {request['url']} ({request['resourceType']})"


def without_credentials(waiting: list[Json]) -> list[Json]:
    """Waiting requests with credentials masked."""
    return [{**masked(item), "headers": _masked_values(item["headers"])} for item in waiting]


def _masked_values(headers: Mapping[str, str]) -> Json:
    return {header["name"]: header["value"] for header in masked_headers(headers.items())}


async def _start(context: Context) -> CallResult:
    patterns = context.arguments.get("urlPatterns", ["*"])
    for pattern in patterns:
        if not _PATTERN.fullmatch(pattern):
            raise InvalidArguments(
                f"The pattern {pattern!r} matches no address: it must begin with a scheme or *."
            )
    output = await context.in_tab("intercept.start", {"urlPatterns": patterns})
    sites = output["sites"]
    only = "" if sites is None else f" Rules depend on the site here: only of {', '.join(sites)}."
    return _result(context, f"Requests to {', '.join(patterns)} are held.{only}", output)


async def _list(context: Context) -> CallResult:
    timeout = min(context.arguments.get("timeout", 0), context.wait_ms)
    output = await context.in_tab("intercept.list", {"timeoutMs": timeout})
    kept = len(fitting(map(_line, output["waiting"]), context.arguments))
    left_out = len(output["waiting"]) - kept
    output["waiting"] = output["waiting"][:kept]
    if left_out:
        output["leftOut"] = left_out
    return _result(context, f"Intercepted requests of tab {context.tab.id}:", output)


async def _fulfill(context: Context) -> CallResult:
    arguments = context.arguments
    answer = {"how": "fulfill", **_passed(arguments, "requestId", "status")}
    sentence = f"{arguments['requestId']} is answered with {arguments['status']}."
    return await _answer(context, sentence, {**answer, **_headers(arguments), **_body(arguments)})


async def _fail(context: Context) -> CallResult:
    id = context.arguments["requestId"]
    why = context.arguments.get("errorReason", FAILURES[0])
    answer = {"how": "fail", "requestId": id, "errorReason": why}
    return await _answer(context, f"{id} fails ({why}).", answer)


async def _continue(context: Context) -> CallResult:
    arguments = context.arguments
    answer = {"how": "continue", **_passed(arguments, "requestId", "method")}
    if "url" in arguments:
        answer["url"] = address(arguments["url"])
    # The agent saw a masked value as the mark, and sends it back for one that stays as it is.
    kept = [name for name, value in arguments.get("headers", {}).items() if value == MARK]
    answer |= {"keepHeaders": kept} if kept else {}
    answer |= {**_headers(arguments), **_body(arguments)}
    return await _answer(context, f"{arguments['requestId']} goes on.", answer)


async def _answer(context: Context, sentence: str, answer: Json) -> CallResult:
    return _result(context, sentence, await context.in_tab("intercept.answer", answer))


async def _stop(context: Context) -> CallResult:
    count = (await context.in_tab("intercept.stop", {}))["continued"]
    sentence = f"Stopped intercepting; {counted(count, 'waiting request')} continued."
    return done(sentence, {"tabId": context.tab.id, "continued": count})


def _result(context: Context, head: str, output: Json) -> CallResult:
    data = {**output, "waiting": without_credentials(output["waiting"])}
    return done("\n".join([head, *waiting_lines(data)]), {"tabId": context.tab.id, **data})


def _passed(arguments: Mapping[str, Any], *names: str) -> Json:
    return {name: arguments[name] for name in names if name in arguments}


def _headers(arguments: Mapping[str, Any]) -> Json:
    for name, value in arguments.get("headers", {}).items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise InvalidArguments(f"{name!r} or its value is not a header that can be sent.")
    return _passed(arguments, "headers")


def _body(arguments: Mapping[str, Any]) -> Json:
    """The body as the browser takes it, in base64."""
    if "body" not in arguments:
        return {}
    if not arguments.get("base64"):
        return {"body": base64.b64encode(arguments["body"].encode()).decode()}
    try:
        base64.b64decode(arguments["body"], validate=True)
    except binascii.Error:
        raise InvalidArguments("The body is not base64.") from None
    return {"body": arguments["body"]}


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
        "seconds goes on unanswered. Navigating then returns as soon as a request waits."
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
    does=(Ability.CHANGE_REQUESTS,),
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
    # The answer to a request for a page or a script runs as a script.
    toolsets=BROWSER,
    does=(Ability.CHANGE_REQUESTS, Ability.RUN_CODE),
)

FAIL_REQUEST = browser_tool(
    name="browser_fail_request",
    title="Fail request",
    description="Make a waiting request fail.",
    handler=_fail,
    properties={
        "requestId": _ID,
        "errorReason": {"enum": list(FAILURES), "description": f"Default {FAILURES[0]}."},
    },
    required=("requestId",),
    toolsets=BROWSER,
    does=(Ability.CHANGE_REQUESTS,),
)


def _continuing(arguments: Mapping[str, Any]) -> tuple[Ability, ...]:
    """Sent to another address, a request can load any code into the page."""
    redirected = (Ability.RUN_CODE,) if "url" in arguments else ()
    return (Ability.CHANGE_REQUESTS, *redirected)


CONTINUE_REQUEST = browser_tool(
    name="browser_continue_request",
    title="Continue request",
    description="Continue a waiting request, changed if you like.",
    handler=_continue,
    properties={
        "requestId": _ID,
        "url": {"type": "string", "description": "Another address; the page does not notice."},
        "method": {"type": "string", "pattern": "^[A-Za-z]{1,20}$"},
        "headers": {**_HEADERS, "description": f"Instead of all its own; {MARK} keeps one."},
        **_BODY,
    },
    required=("requestId",),
    secret_arguments=_SECRET,
    toolsets=BROWSER,
    does=_continuing,
)

STOP_INTERCEPTING = browser_tool(
    name="browser_stop_intercepting",
    title="Stop intercepting",
    description="Stop intercepting; waiting requests go on.",
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
