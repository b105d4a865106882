"""Inspecting a page as developer tools do: run scripts, list its files, examine its styles."""

import msgspec

from tabhub.calls.marks import fenced, fenced_lines, quoted
from tabhub.calls.results import done
from tabhub.errors import Refused
from tabhub.tools.reports import (
    MAX_TOKENS,
    char_limit,
    counted,
    fitting,
    timestamp,
    token_chars,
    with_tabs,
)
from tabhub.tools.tool import BROWSER, CLAUDE, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.abilities import Ability
from tabhub.wire.mcp.messages import CallResult

SCRIPT_CHARS = 50_000
JAVASCRIPT_TOOL_CHARS = 100_000
RESOURCE_CHARS = 500_000
SHEET_NAME_CHARS = 200
PSEUDO_CLASSES = (":hover", ":focus", ":active", ":visited", ":focus-within", ":focus-visible")
_RESOURCE_DATA = ("url", "type", "mimeType", "size", "base64", "truncated", "length")


async def _execute_script(context: Context) -> CallResult:
    output = await _evaluate(context, context.arguments["code"])
    value = {"value": output.get("value")}
    return done(_value_text(context, _as_json(output), SCRIPT_CHARS), value)


async def _javascript_tool(context: Context) -> CallResult:
    """As a console prints it: strings without quotes, a description of what JSON cannot hold."""
    output = await _evaluate(context, context.arguments["text"])
    if output.get("isNode") is True:
        # Clients of this tool expect for a node what JSON makes of it.
        output = {"value": {}}
    value = output.get("value")
    printed = value if isinstance(value, str) else _as_json(output)
    text = _value_text(context, printed, JAVASCRIPT_TOOL_CHARS)
    return done(text, {"tabId": context.tab.id, "value": value})


async def _evaluate(context: Context, code: str) -> Json:
    input = {"code": code, "timeoutMs": context.wait_ms}
    output: Json = await context.in_tab("page.evaluate", input)
    exception = output.get("exception")
    if exception is not None:
        raise _script_error(exception)
    return output


def _as_json(output: Json) -> str:
    return output.get("description") or msgspec.json.encode(output.get("value")).decode()


def _value_text(context: Context, printed: str, most: int) -> str:
    """The text is cut for the model; the structured content always has the whole value."""
    limit = min(most, token_chars(context.arguments) or most)
    if len(printed) <= limit:
        return fenced(printed)
    return f"{fenced(printed[:limit])}\n(Cut here: {len(printed)} characters in all.)"


def _script_error(exception: Json) -> Refused:
    message, stack = str(exception.get("message", "")), str(exception.get("stack") or "")
    return Refused(
        f"The script threw:\n{fenced(stack or message)}",
        "script_error",
        data={"message": message, "stack": stack},
    )


async def _list_resources(context: Context) -> CallResult:
    arguments = context.arguments
    input = {"type": arguments["type"]} if "type" in arguments else {}
    output = await context.in_tab("page.resources", input)
    resources, total = output["resources"], output["total"]
    lines = fitting((_resource_line(resource) for resource in resources), arguments)
    body = [fenced_lines(lines)] if lines else []
    more = [f"({total - len(lines)} more.)"] if len(lines) < total else []
    head = f"{counted(total, 'file')} of the page in tab {context.tab.id}"
    data: Json = {"tabId": context.tab.id, "resources": resources[: len(lines)], "total": total}
    return done("\n".join([head, *body, *more]), data)


def _resource_line(resource: Json) -> str:
    size = f", {resource['size']} bytes" if "size" in resource else ""
    failed = ", failed" if resource.get("failed") else ""
    return f"- {resource['type']} {resource['url']} ({resource['mimeType']}{size}{failed})"


async def _get_resource(context: Context) -> CallResult:
    arguments = context.arguments
    limit = char_limit(arguments, "maxLength", RESOURCE_CHARS)
    output = await context.in_tab("page.resource", {"url": arguments["url"], "maxChars": limit})
    kind = "in base64, because it is not text" if output["base64"] else "as text"
    cut = [f"(Cut: {output['length']} characters in all.)"] if output["truncated"] else []
    lines = [f"{quoted(output['mimeType'])}, {kind}:", fenced(output["content"]), *cut]
    known = {key: output[key] for key in _RESOURCE_DATA if key in output}
    data: Json = {"tabId": context.tab.id, **known, "content": output["content"]}
    return done("\n".join(lines), data)


async def _force_pseudo_state(context: Context) -> CallResult:
    states = context.arguments["pseudoClasses"]
    input = {**context.element(), "pseudoClasses": states}
    count = (await context.in_tab("page.pseudo", input))["forced"]
    state = f"The element is {', '.join(states)}." if states else "The element is as it was."
    return done(
        f"{state} Elements in a forced state: {count}.",
        {"tabId": context.tab.id, "pseudoClasses": states, "forced": count},
    )


async def _get_css_coverage(context: Context) -> CallResult:
    arguments = context.arguments
    output = await context.in_tab("page.coverage", {"stop": arguments.get("stop", False)})
    sheets: list[Json] = output["sheets"]
    lines = [line for sheet in sheets for line in _sheet_lines(sheet)]
    kept = fitting(lines, arguments)
    left_out = len(lines) - len(kept)
    text = f"Rules in use since {timestamp(output['since'])}:\n" + fenced_lines(kept)
    text += f"\n({left_out} lines left out: raise maxTokens.)" if left_out else ""
    data = {
        "tabId": context.tab.id,
        "totalBytes": sum(sheet["totalBytes"] for sheet in sheets),
        "usedBytes": sum(sheet["usedBytes"] for sheet in sheets),
        "sheets": _first_sheets(sheets, len(kept)),
        "leftOut": left_out,
    }
    return done(text, data)


def _sheet_lines(sheet: Json) -> list[str]:
    name = sheet["url"][:SHEET_NAME_CHARS] or "a sheet without an address"
    inline = " (inline)" if sheet["inline"] else ""
    head = (
        f"{name}{inline}: {sheet['usedBytes']} of {sheet['totalBytes']} bytes used, "
        f"{sheet['usedRules']} of {sheet['rules']} rules"
    )
    return [head, *(f"- unused: {selector}" for selector in sheet["unused"])]


def _first_sheets(sheets: list[Json], lines: int) -> list[Json]:
    """The data of the first lines: one for each sheet, one for each of its selectors."""
    kept: list[Json] = []
    for sheet in sheets:
        if lines <= 0:
            break
        kept.append({**sheet, "unused": sheet["unused"][: lines - 1]})
        lines -= 1 + len(sheet["unused"])
    return kept


EXECUTE_SCRIPT = browser_tool(
    name="browser_execute_script",
    title="Execute JavaScript",
    description=(
        "Run JavaScript in the page; the value of the last expression comes back as JSON. `return` "
        "and top-level `await` work."
    ),
    handler=_execute_script,
    properties={"code": {"type": "string"}, "maxTokens": MAX_TOKENS},
    required=("code",),
    does=(Ability.RUN_CODE,),
)

JAVASCRIPT_TOOL = browser_tool(
    name="javascript_tool",
    title="Execute JavaScript",
    description=(
        "Run JavaScript in the page and get the value of the last expression. Top-level await "
        "works."
    ),
    handler=with_tabs(_javascript_tool),
    properties={
        "action": {"enum": ["javascript_exec"]},
        "text": {"type": "string"},
        "maxTokens": MAX_TOKENS,
    },
    required=("action", "text"),
    aliases={"code": "text"},
    toolsets=CLAUDE,
    does=(Ability.RUN_CODE,),
)

LIST_RESOURCES = browser_tool(
    name="browser_list_resources",
    title="List resources",
    description="The files that the page and its frames are made of.",
    handler=_list_resources,
    properties={
        "type": {
            "type": "string",
            "description": "Only these: document, stylesheet, script, image, font …",
        },
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    toolsets=BROWSER,
)

GET_RESOURCE_CONTENT = browser_tool(
    name="browser_get_resource_content",
    title="Resource content",
    description="The content of one of the page's files, as it was loaded.",
    handler=_get_resource,
    properties={
        "url": {"type": "string"},
        "maxLength": {
            "type": "integer",
            "minimum": 1,
            "maximum": RESOURCE_CHARS,
            "description": f"Default {RESOURCE_CHARS}.",
        },
        "maxTokens": MAX_TOKENS,
    },
    required=("url",),
    read_only=True,
    toolsets=BROWSER,
)

FORCE_PSEUDO_STATE = browser_tool(
    name="browser_force_pseudo_state",
    title="Force pseudo state",
    description=(
        "Make an element look hovered, focused and so on, until you give [] or the page goes."
    ),
    handler=_force_pseudo_state,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "pseudoClasses": {"type": "array", "items": {"enum": list(PSEUDO_CLASSES)}, "maxItems": 6},
    },
    required=("pseudoClasses",),
    idempotent=True,
    toolsets=BROWSER,
)

GET_CSS_COVERAGE = browser_tool(
    name="browser_get_css_coverage",
    title="CSS coverage",
    description=(
        "Which style rules of the page are in use, and the selectors of those that are not. "
        "Counting begins with the first call and goes on: act or reload, and call again."
    ),
    handler=_get_css_coverage,
    properties={
        "stop": {"type": "boolean", "description": "End counting. Default false."},
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    toolsets=BROWSER,
)

TOOLS = (
    EXECUTE_SCRIPT,
    JAVASCRIPT_TOOL,
    LIST_RESOURCES,
    GET_RESOURCE_CONTENT,
    FORCE_PSEUDO_STATE,
    GET_CSS_COVERAGE,
)
