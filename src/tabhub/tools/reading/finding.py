"""Finding elements: by description, by selector, by waiting for them; and their styles."""

import json

from tabhub.calls.marks import fenced_lines
from tabhub.calls.results import done
from tabhub.errors import InvalidArguments
from tabhub.tools.reading.reading import unlistened_note
from tabhub.tools.reports import MAX_TOKENS, fitting, with_tabs
from tabhub.tools.tool import (
    ANSWER_MARGIN_SECONDS,
    BROWSER,
    CLAUDE,
    LONGEST_FIND,
    REF,
    SELECTOR,
    Context,
    Json,
    browser_tool,
)
from tabhub.tools.tool import FIND as WORDS
from tabhub.wire.mcp.messages import CallResult

DEFAULT_MATCHES, DEFAULT_ELEMENTS, MAX_ELEMENTS = 20, 100, 100
WAIT_MS = 10_000
_LOADING = "(The page is still loading.)"
_PARTLY = "(Only a part of the page could be searched in time.)"


async def _find(context: Context) -> CallResult:
    arguments = context.arguments
    query = arguments["query"]
    if not query.strip():
        raise InvalidArguments(
            f"{context.call.tool.name}: query says nothing; describe an element."
        )
    input = {"query": query, "limit": arguments.get("limit", DEFAULT_MATCHES)}
    output = await context.in_tab("page.find", input)
    found = output["matches"] or output.get("nearest", [])
    lines = fitting((_match_line(match) for match in found), arguments)
    found = found[: len(lines)]
    data = {"tabId": context.tab.id, "total": output["total"], **_kinds(output, found)}
    body = ["", fenced_lines(lines)] if lines else []
    head = _found_head(query, output, len(found))
    return done("\n".join([head, *_search_notes(output), *body]), data)


def _kinds(output: Json, found: list[Json]) -> Json:
    """What is listed: matches, or what comes nearest to one."""
    if output["matches"]:
        return {"matches": found}
    return {"matches": [], **({"nearest": found} if found else {})}


def _found_head(query: str, output: Json, shown: int) -> str:
    matches = output["matches"]
    if not matches:
        nearest = " The nearest:" if output.get("nearest") else ""
        return f"Nothing on the page matches {query!r}.{nearest}"
    head = _count("match", "matches", shown, output["total"])
    is_hidden = all("behind" in match or "shutOff" in match for match in matches)
    return f"{head} What the page shows in front has none." if is_hidden else head


def _search_notes(output: Json) -> list[str]:
    notes = {_PARTLY: not output["whole"], _LOADING: output.get("isLoading", False)}
    return [*(note for note, holds in notes.items() if holds), *unlistened_note(output)]


def _match_line(match: Json) -> str:
    kind = f" ({match['type']})" if "type" in match else ""
    state = f" {match['state']}" if "state" in match else ""
    row = f" - in row {_quoted(match['row'])}" if "row" in match else ""
    name = f" {_quoted(match['name'])}" if match["name"] else ""
    line = f"- {match['ref']}: {match['role']}{name}{kind}{state}{row} - {match['reason']}"
    if "behind" in match:
        front = match["behind"]
        return f"{line} - behind {front['role']} {_quoted(front['name'])} ({front['ref']})"
    return f"{line} - shut off by the page" if match.get("shutOff") else line


def _count(singular: str, plural: str, shown: int, total: int) -> str:
    head = f"{total} {singular if total == 1 else plural}."
    if shown == total:
        return head
    return f"{head} Here are {shown}; be more exact, or raise limit or maxTokens."


async def _query_elements(context: Context) -> CallResult:
    arguments = context.arguments
    if "ref" not in arguments and "selector" not in arguments:
        raise InvalidArguments("browser_query_elements: give selector, ref, or both.")
    names = ("ref", "selector", "attributes")
    input: Json = {key: arguments[key] for key in names if key in arguments}
    input["limit"] = arguments.get("limit", DEFAULT_ELEMENTS)
    output = await context.in_tab("page.query", input)
    lines = fitting((_element_line(element) for element in output["elements"]), arguments)
    elements = output["elements"][: len(lines)]
    data = {"tabId": context.tab.id, "elements": elements, "total": output["total"]}
    if not elements:
        where = f"in {arguments['ref']}" if "ref" in arguments else "on the page"
        return done(f"Nothing {where} matches {arguments['selector']}.", data)
    head = _count("element", "elements", len(elements), output["total"])
    return done("\n".join([head, fenced_lines(lines)]), data)


def _element_line(element: Json) -> str:
    attributes = "".join(
        f" {name}={_quoted(value)}" for name, value in element["attributes"].items()
    )
    return f"- {element['ref']}: <{element['tag']}{attributes}> {_quoted(element['text'])}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


async def _wait_for_element(context: Context) -> CallResult:
    arguments = context.arguments
    input = {
        **context.element("find"),
        "timeoutMs": await _timeout(context),
        "visible": arguments.get("visible", "ref" in arguments),
    }
    element = (await context.in_tab("page.wait", input))["element"]
    data = {"tabId": context.tab.id, "found": True, "element": element}
    return done(f"Found {element['ref']}.\n{fenced_lines([_element_line(element)])}", data)


async def _timeout(context: Context) -> int:
    """How long to wait; the time that the caller gives may be longer than a call usually takes."""
    requested: int | None = context.arguments.get("timeout")
    if requested is None:
        return min(WAIT_MS, context.wait_ms)
    await context.call.allow(requested / 1000, ANSWER_MARGIN_SECONDS)
    return requested


async def _get_styles(context: Context) -> CallResult:
    arguments = context.arguments
    input = context.element()
    if "properties" in arguments:
        input["properties"] = arguments["properties"]
    output = await context.in_tab("page.styles", input)
    lines = [f"{name}: {value}" for name, value in output["styles"].items()]
    kept = fitting(lines, arguments)
    styles = dict(list(output["styles"].items())[: len(kept)])
    box = "{x:g}, {y:g}, {width:g}x{height:g}".format(**output["box"])
    text = fenced_lines([_element_line(output), f"box: {box}", *kept])
    if len(kept) < len(lines):
        text += f"\n({len(lines) - len(kept)} properties left out: name those you want.)"
    return done(text, {"tabId": context.tab.id, **output, "styles": styles})


_QUERY: Json = {
    "type": "string",
    "minLength": 1,
    "maxLength": LONGEST_FIND,
    "description": "e.g. login button",
}


def _limit(default: int) -> Json:
    return {"type": "integer", "minimum": 1, "maximum": MAX_ELEMENTS, "default": default}


FIND = browser_tool(
    name="browser_find",
    title="Find elements",
    description="Find elements by words (synonyms, misspelt too), best first, with refs.",
    handler=_find,
    properties={"query": _QUERY, "limit": _limit(DEFAULT_MATCHES), "maxTokens": MAX_TOKENS},
    required=("query",),
    read_only=True,
)

CLAUDE_FIND = browser_tool(
    name="find",
    title="Find elements",
    description="Find elements by a description in words, with their refs.",
    handler=with_tabs(_find),
    properties={"query": _QUERY, "limit": _limit(DEFAULT_MATCHES), "maxTokens": MAX_TOKENS},
    required=("query",),
    read_only=True,
    same_as=("browser_find",),
    toolsets=CLAUDE,
)

QUERY_ELEMENTS = browser_tool(
    name="browser_query_elements",
    title="Query elements",
    description=(
        "Elements that match a CSS selector, in all frames and shadow roots: ref, tag, text and "
        "attributes of each. With ref only what is inside that element; ref alone: that element."
    ),
    handler=_query_elements,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "limit": _limit(DEFAULT_ELEMENTS),
        "attributes": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Attributes to list. Default: the usual ones.",
        },
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    toolsets=BROWSER,
)

WAIT_FOR_ELEMENT = browser_tool(
    name="browser_wait_for_element",
    title="Wait for element",
    description=(
        "Wait until selector or all words of find match, in any frame, "
        "also on a page the tab goes to meanwhile; or until ref is visible."
    ),
    handler=_wait_for_element,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "find": WORDS,
        "timeout": {
            "type": "integer",
            "minimum": 0,
            "description": f"In ms. Default {WAIT_MS}.",
        },
        "visible": {"type": "boolean", "description": "And can be seen."},
    },
    read_only=True,
)

GET_ELEMENT_STYLES = browser_tool(
    name="browser_get_element_styles",
    title="Element styles",
    description="An element's box and computed styles.",
    handler=_get_styles,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "properties": {
            "type": "array",
            "items": {"type": "string"},
            "description": "CSS properties to list, --custom ones too. Default: the usual ones.",
        },
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    toolsets=BROWSER,
)

TOOLS = (FIND, QUERY_ELEMENTS, WAIT_FOR_ELEMENT, GET_ELEMENT_STYLES, CLAUDE_FIND)
