"""Running JavaScript in a page."""

import msgspec

from tabhub.calls.results import done, fenced
from tabhub.errors import Refused
from tabhub.tools.data.browsing_data import iso
from tabhub.tools.network.records import counted
from tabhub.tools.reports import MAX_TOKENS, chars, fitting, with_tabs
from tabhub.tools.tool import BROWSER, CLAUDE, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

SHOWN_CHARS = 50_000
MOST_CHARS = 100_000


async def _execute(context: Context) -> CallResult:
    output = await _output(context, context.arguments["code"])
    most = chars(context.arguments, "", SHOWN_CHARS)
    return done(_told(_shown(output), most), {"value": output.get("value")})


async def _javascript(context: Context) -> CallResult:
    """As a console shows it: strings as they are, and what JSON cannot hold by a description."""
    output = await _output(context, context.arguments["text"])
    if output.get("isNode") is True:
        # Clients of this tool expect of a node what JSON makes of it.
        output = {"value": {}}
    value = output.get("value")
    shown = value if isinstance(value, str) else _shown(output)
    most = chars(context.arguments, "", MOST_CHARS)
    return done(_told(shown, most), {"tabId": context.tab.id, "value": value})


async def _output(context: Context, code: str) -> Json:
    input = {"code": code, "timeoutMs": context.wait_ms}
    output: Json = await context.in_tab("page.evaluate", input)
    thrown = output.get("exception")
    if thrown is not None:
        raise _script_error(thrown)
    return output


def _shown(output: Json) -> str:
    return output.get("description") or msgspec.json.encode(output.get("value")).decode()


def _told(shown: str, most: int) -> str:
    """A model reads the text; a program that wants all of it has the structured content."""
    if len(shown) <= most:
        return fenced(shown)
    return f"{fenced(shown[:most])}\n(Cut here: {len(shown)} characters in all.)"


def _script_error(thrown: Json) -> Refused:
    message, stack = str(thrown.get("message", "")), str(thrown.get("stack") or "")
    return Refused(
        f"The script threw:\n{fenced(stack or message)}",
        "script_error",
        data={"message": message, "stack": stack},
    )


EXECUTE_SCRIPT = browser_tool(
    name="browser_execute_script",
    title="Execute JavaScript",
    description=(
        "Run JavaScript in the page; the value of the last expression comes back as JSON. `return` "
        "and top-level `await` work."
    ),
    handler=_execute,
    properties={"code": {"type": "string"}, "maxTokens": MAX_TOKENS},
    required=("code",),
)

JAVASCRIPT_TOOL = browser_tool(
    name="javascript_tool",
    title="Execute JavaScript",
    description=(
        "Run JavaScript in the page and get the value of the last expression. Top-level await "
        "works."
    ),
    handler=with_tabs(_javascript),
    properties={
        "action": {"enum": ["javascript_exec"]},
        "text": {"type": "string"},
        "maxTokens": MAX_TOKENS,
    },
    required=("action", "text"),
    aliases={"code": "text"},
    same_as=("browser_execute_script",),
    toolsets=CLAUDE,
)


MAX_CHARS = 500_000
_SHOWN = ("url", "type", "mimeType", "size", "base64", "truncated", "length")


async def _list(context: Context) -> CallResult:
    given = context.arguments
    input = {"type": given["type"]} if "type" in given else {}
    output = await context.in_tab("page.resources", input)
    resources, total = output["resources"], output["total"]
    lines = fitting((_line(one) for one in resources), given)
    said = [fenced("\n".join(lines))] if lines else []
    more = [f"({total - len(lines)} more.)"] if len(lines) < total else []
    text = [f"{counted(total, 'file')} of the page in tab {context.tab.id}", *said, *more]
    shape: Json = {"tabId": context.tab.id, "resources": resources[: len(lines)], "total": total}
    return done("\n".join(text), shape)


def _line(resource: Json) -> str:
    size = f", {resource['size']} bytes" if "size" in resource else ""
    failed = ", failed" if resource.get("failed") else ""
    return f"- {resource['type']} {resource['url']} ({resource['mimeType']}{size}{failed})"


async def _content(context: Context) -> CallResult:
    given = context.arguments
    input = {"url": given["url"], "maxChars": chars(given, "maxLength", MAX_CHARS)}
    output = await context.in_tab("page.resource", input)
    kind = "in base64, because it is not text" if output["base64"] else "as text"
    cut = [f"(Cut: {output['length']} characters in all.)"] if output["truncated"] else []
    text = [f"{output['mimeType']}, {kind}:", fenced(output["content"]), *cut]
    shown = {key: output[key] for key in _SHOWN if key in output}
    shape: Json = {"tabId": context.tab.id, **shown, "content": output["content"]}
    return done("\n".join(text), shape)


LIST_RESOURCES = browser_tool(
    name="browser_list_resources",
    title="List resources",
    description="The files that the page and its frames are made of.",
    handler=_list,
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
    description="What is in one of the page's files, as it was loaded.",
    handler=_content,
    properties={
        "url": {"type": "string"},
        "maxLength": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_CHARS,
            "description": f"Default {MAX_CHARS}.",
        },
        "maxTokens": MAX_TOKENS,
    },
    required=("url",),
    read_only=True,
    toolsets=BROWSER,
)


SHOWN_STYLE_CHARS = 200
PSEUDO = (":hover", ":focus", ":active", ":visited", ":focus-within", ":focus-visible")


async def _force(context: Context) -> CallResult:
    states = context.arguments["pseudoClasses"]
    input = {**context.element(), "pseudoClasses": states}
    count = (await context.in_tab("page.pseudo", input))["forced"]
    told = f"The element is {', '.join(states)}." if states else "The element is as it was."
    return done(
        f"{told} Elements in a forced state: {count}.",
        {"tabId": context.tab.id, "pseudoClasses": states, "forced": count},
    )


async def _coverage(context: Context) -> CallResult:
    given = context.arguments
    output = await context.in_tab("page.coverage", {"stop": given.get("stop", False)})
    sheets: list[Json] = output["sheets"]
    lines = [line for sheet in sheets for line in _lines(sheet)]
    kept = fitting(lines, given)
    left_out = len(lines) - len(kept)
    told = f"Rules in use since {iso(output['since'])}:\n{fenced(chr(10).join(kept))}"
    told += f"\n({left_out} lines left out: raise maxTokens.)" if left_out else ""
    total = {
        "totalBytes": sum(sheet["totalBytes"] for sheet in sheets),
        "usedBytes": sum(sheet["usedBytes"] for sheet in sheets),
    }
    shown = _cut(sheets, len(kept))
    return done(told, {"tabId": context.tab.id, **total, "sheets": shown, "leftOut": left_out})


def _lines(sheet: Json) -> list[str]:
    name = sheet["url"][:SHOWN_STYLE_CHARS] or "a sheet without an address"
    inline = " (inline)" if sheet["inline"] else ""
    head = (
        f"{name}{inline}: {sheet['usedBytes']} of {sheet['totalBytes']} bytes used, "
        f"{sheet['usedRules']} of {sheet['rules']} rules"
    )
    return [head, *(f"- unused: {selector}" for selector in sheet["unused"])]


def _cut(sheets: list[Json], lines: int) -> list[Json]:
    """As much as was told in so many lines: one for a sheet, one for each of its selectors."""
    kept: list[Json] = []
    for sheet in sheets:
        if lines <= 0:
            break
        kept.append({**sheet, "unused": sheet["unused"][: lines - 1]})
        lines -= 1 + len(sheet["unused"])
    return kept


FORCE_PSEUDO_STATE = browser_tool(
    name="browser_force_pseudo_state",
    title="Force pseudo state",
    description=(
        "Make an element look hovered, focused and so on, until you give [] or the page goes."
    ),
    handler=_force,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "pseudoClasses": {"type": "array", "items": {"enum": list(PSEUDO)}, "maxItems": 6},
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
    handler=_coverage,
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
