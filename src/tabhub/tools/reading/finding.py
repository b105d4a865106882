"""Finding elements: by a description, by a selector, by waiting for them; and how one looks."""

import json

from tabhub.calls.results import done, fenced
from tabhub.errors import InvalidArguments
from tabhub.tools.reports import MAX_TOKENS, fitting, with_tabs
from tabhub.tools.tool import CLAUDE, CORE, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

BROWSER = frozenset({"browser"})
FOUND, QUERIED, MOST = 20, 100, 100
WAIT_MS = 10_000
QUERY: Json = {
    "type": "string",
    "minLength": 1,
    "maxLength": 500,
    "description": "e.g. login button",
}
_PARTLY = "(Only a part of this huge page could be searched in time.)"


def _limit(usual: int) -> Json:
    return {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST,
        "default": usual,
    }


async def _find(context: Context) -> CallResult:
    given = context.arguments
    input = {"query": given["query"], "limit": given.get("limit", FOUND)}
    output = await context.in_tab("page.find", input)
    lines = fitting((_match(match) for match in output["matches"]), given)
    matches = output["matches"][: len(lines)]
    partly = [] if output["whole"] else [_PARTLY]
    shape = {"tabId": context.tab.id, "matches": matches, "total": output["total"]}
    if not matches:
        said = [f"Nothing on the page matches {given['query']!r}.", *partly]
        return done("\n".join(said), shape)
    head = _count("match", "matches", len(matches), output["total"])
    return done("\n".join([head, *partly, "", fenced("\n".join(lines))]), shape)


def _match(match: Json) -> str:
    kind = f" ({match['type']})" if "type" in match else ""
    return f"- {match['ref']}: {match['role']} {_quoted(match['name'])}{kind} - {match['reason']}"


def _count(one: str, many: str, shown: int, total: int) -> str:
    head = f"{total} {one if total == 1 else many}."
    if shown == total:
        return head
    return f"{head} Here are {shown}; be more exact, or raise limit or maxTokens."


async def _query(context: Context) -> CallResult:
    given = context.arguments
    if "ref" not in given and "selector" not in given:
        raise InvalidArguments("browser_query_elements: give selector, ref, or both.")
    named: Json = {key: given[key] for key in ("ref", "selector", "attributes") if key in given}
    input = {**named, "limit": given.get("limit", QUERIED)}
    output = await context.in_tab("page.query", input)
    lines = fitting((_element(element) for element in output["elements"]), given)
    elements = output["elements"][: len(lines)]
    shape = {"tabId": context.tab.id, "elements": elements, "total": output["total"]}
    if not elements:
        where = f"in {given['ref']}" if "ref" in given else "on the page"
        return done(f"Nothing {where} matches {given['selector']}.", shape)
    head = _count("element", "elements", len(elements), output["total"])
    return done("\n".join([head, fenced("\n".join(lines))]), shape)


def _element(element: Json) -> str:
    attributes = "".join(
        f" {name}={_quoted(value)}" for name, value in element["attributes"].items()
    )
    return f"- {element['ref']}: <{element['tag']}{attributes}> {_quoted(element['text'])}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


async def _wait(context: Context) -> CallResult:
    given = context.arguments
    input = {
        **context.element(),
        "timeoutMs": min(given.get("timeout", WAIT_MS), context.wait_ms),
        "visible": given.get("visible", "ref" in given),
    }
    output = await context.in_tab("page.wait", input)
    element = output["element"]
    shape = {"tabId": context.tab.id, "found": True, "element": element}
    return done(f"{element['ref']} is there.\n{fenced(_element(element))}", shape)


async def _styles(context: Context) -> CallResult:
    given = context.arguments
    input = context.element()
    if "properties" in given:
        input["properties"] = given["properties"]
    output = await context.in_tab("page.styles", input)
    lines = [f"{name}: {value}" for name, value in output["styles"].items()]
    kept = fitting(lines, given)
    styles = dict(list(output["styles"].items())[: len(kept)])
    box = "{x:g}, {y:g}, {width:g}x{height:g}".format(**output["box"])
    text = fenced("\n".join([_element(output), f"box: {box}", *kept]))
    if len(kept) < len(lines):
        text += f"\n({len(lines) - len(kept)} properties left out: name those you want.)"
    return done(text, {"tabId": context.tab.id, **output, "styles": styles})


FIND = browser_tool(
    name="browser_find",
    title="Find elements",
    description=("Find elements by words (text, role, synonyms, misspelt), best first, with refs."),
    handler=_find,
    properties={"query": QUERY, "limit": _limit(FOUND), "maxTokens": MAX_TOKENS},
    required=("query",),
    read_only=True,
)

CLAUDE_FIND = browser_tool(
    name="find",
    title="Find elements",
    description="Find elements by a description in words, with their refs.",
    handler=with_tabs(_find),
    properties={"query": QUERY, "limit": _limit(FOUND), "maxTokens": MAX_TOKENS},
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
        "attributes of each. With ref only what is inside that element; ref alone tells of itself."
    ),
    handler=_query,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "limit": _limit(QUERIED),
        "attributes": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Attributes to tell. Default: the usual ones.",
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
        "Wait until a CSS selector matches, in any frame or shadow root, "
        "also on a page the tab goes to meanwhile; or until ref is visible."
    ),
    handler=_wait,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "timeout": {
            "type": "integer",
            "minimum": 0,
            "maximum": WAIT_MS,
            "description": f"In ms. Default {WAIT_MS}.",
        },
        "visible": {"type": "boolean", "description": "And can be seen."},
    },
    read_only=True,
    toolsets=CORE,
)

ELEMENT_STYLES = browser_tool(
    name="browser_get_element_styles",
    title="Element styles",
    description="An element's box and computed styles.",
    handler=_styles,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "properties": {
            "type": "array",
            "items": {"type": "string"},
            "description": "CSS properties to tell, --custom ones too. Default: the usual ones.",
        },
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    toolsets=BROWSER,
)

TOOLS = (FIND, QUERY_ELEMENTS, WAIT_FOR_ELEMENT, ELEMENT_STYLES, CLAUDE_FIND)
