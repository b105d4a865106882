"""Reading a page: its elements as lines of text, each with a ref to act on."""

from typing import Any

from tabhub.calls.results import done, fenced
from tabhub.errors import InvalidArguments, NotFound
from tabhub.tools.reading.finding import BROWSER
from tabhub.tools.reports import MAX_TOKENS, chars, with_tabs
from tabhub.tools.tool import CLAUDE, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

PDF = "application/pdf"


def about_kind(output: dict[str, Any]) -> list[str]:
    """A note about a document of another kind than HTML."""
    kind: str | None = output.get("contentType")
    if kind is None:
        return []
    if kind == PDF:
        return [
            "(This is a PDF in the browser's own viewer, whose text cannot be read here: take "
            "browser_screenshot_tab, or browser_download_file for the file.)"
        ]
    if kind.startswith(("image/", "video/", "audio/")) and kind != "image/svg+xml":
        return [f"(This is no page but {kind}: browser_screenshot_tab shows what there is.)"]
    return [f"(This is no page but {kind}.)"]


DEPTH = 15
MAX_CHARS = 50_000
_KEPT = ("url", "title", "contentType", "nodes", "truncated", "next", "total", "read")


async def _read(context: Context) -> CallResult:
    output = await _output(context, {"since": context.arguments.get("since")})
    return _result(context, output)


async def _read_measured(context: Context) -> CallResult:
    return _result(context, await _output(context, {"measure": True}))


async def _output(context: Context, more: Json) -> Json:
    given = context.arguments
    input = {
        "filter": given.get("filter", "all"),
        "depth": given.get("depth", DEPTH),
        "ref": given.get("ref_id"),
        "maxChars": chars(given, "max_chars", MAX_CHARS),
        "offset": given.get("offset", 0),
        **more,
    }
    output: Json = await context.in_tab("page.read", input)
    return output


def _result(context: Context, output: Json) -> CallResult:
    given = context.arguments
    kept = {key: output[key] for key in _KEPT if key in output}
    delta = {} if "since" not in given else {"delta": "since" in output}
    return done(_told(output, given.get("since")), {"tabId": context.tab.id, **kept, **delta})


def _told(output: Json, since: int | None) -> str:
    viewport = output["viewport"]
    lines = [
        *_about_delta(output, since),
        fenced(output["text"]),
        *about_kind(output),
        *_cut(output),
        f"Read {output['read']}.",
        "",
        f"Viewport: {viewport['width']}x{viewport['height']}",
    ]
    return "\n".join(lines)


def _cut(output: Json) -> list[str]:
    if not output["truncated"]:
        return []
    return [
        f"(Cut here{_size(output)}. Go on with offset {output['next']}, or give ref_id or depth.)"
    ]


def _size(output: Json) -> str:
    if "total" not in output:
        return ""
    return f" of {'' if output['whole'] else 'more than '}{output['total']} characters"


def _about_delta(output: Json, since: int | None) -> list[str]:
    if since is None:
        return []
    if "since" not in output:
        return [f"(Read {since} is not known for this document any more: here is all of it.)"]
    if not output["text"]:
        return [f"(Nothing has changed since read {since}.)"]
    return [f"(What has changed since read {since}: + is new, - is gone.)"]


_SETTINGS: Json = {
    "filter": {"enum": ["all", "interactive"], "default": "all"},
    "depth": {"type": "integer", "minimum": 1, "default": DEPTH},
    "ref_id": {"type": "string", "description": "Only this element's subtree."},
    "max_chars": {"type": "integer", "minimum": 100, "default": MAX_CHARS},
    "maxTokens": MAX_TOKENS,
    "offset": {"type": "integer", "minimum": 0, "description": "Go on where a cut was."},
}

READ_PAGE = browser_tool(
    name="browser_read_page",
    title="Read page",
    description=(
        "The page as an indented tree: role, name, ref and state of each element, in all frames "
        "and shadow roots. Refs stay valid while the element lives."
    ),
    handler=_read,
    properties={
        **_SETTINGS,
        "since": {
            "type": "integer",
            "description": "Number of an earlier read: only what changed.",
        },
    },
    read_only=True,
)

CLAUDE_READ_PAGE = browser_tool(
    name="read_page",
    title="Read page",
    description=(
        "The page as an indented tree: role, name, ref and state of each element, off-screen too, "
        "in all frames and shadow roots."
    ),
    handler=with_tabs(_read_measured),
    properties=_SETTINGS,
    read_only=True,
    same_as=("browser_read_page",),
    toolsets=CLAUDE,
)


TEXT_CHARS = 50_000
HTML_CHARS = 200_000
HEAD_CHARS = 200
OFFSET: Json = {"type": "integer", "minimum": 0, "description": "Go on where a cut was."}
_KEPT_TEXT = ("url", "title", "contentType", "source", "truncated", "next")


async def _content(context: Context) -> CallResult:
    output = await _piece(context, "page.text", TEXT_CHARS, "maxLength")
    notes = [*_notes(output), *_rest_of_page(context, output)]
    text = "\n".join([fenced(output["text"]), *notes])
    return done(text, _shape(context, output) | {"text": output["text"]})


async def _html(context: Context) -> CallResult:
    output = await _piece(context, "page.html", HTML_CHARS, "maxLength")
    text = "\n".join([fenced(output["text"]), *_notes(output)])
    return done(text, _shape(context, output) | {"html": output["text"]})


async def _page_text(context: Context) -> CallResult:
    output = await _piece(context, "page.text", TEXT_CHARS, "max_chars")
    if not output["text"]:
        kind = about_kind(output)
        sentence = kind[0][1:-1] if kind else "The page shows no text: it may be made of images."
        raise NotFound(sentence, "element_not_found")
    head = [
        f"Title: {output['title'][:HEAD_CHARS]}",
        f"URL: {output['url'][:HEAD_CHARS]}",
        f"Source element: <{output['source']}>",
        "---",
    ]
    notes = _notes(output, "raise max_chars, or read_page by ref_id")
    text = "\n".join([fenced("\n".join([*head, output["text"]])), *notes])
    return done(text, _shape(context, output) | {"text": output["text"]})


async def _piece(context: Context, command: str, usual: int, named: str) -> Json:
    given = context.arguments
    element: Json = {key: given[key] for key in ("ref", "selector") if key in given}
    if len(element) > 1:
        raise InvalidArguments(f"{context.call.tool.name}: give ref or selector, not both.")
    sizes = {"maxChars": chars(given, named, usual), "offset": given.get("offset", 0)}
    output: Json = await context.in_tab(command, {**element, **sizes})
    return output


def _shape(context: Context, output: Json) -> Json:
    return {"tabId": context.tab.id, **{key: output[key] for key in _KEPT_TEXT if key in output}}


def _notes(output: Json, otherwise: str = "read a part by ref or selector") -> list[str]:
    kind = about_kind(output)
    if not output["truncated"]:
        return kind
    return [*kind, f"(Cut here. Go on with offset {output['next']}, or {otherwise}.)"]


def _rest_of_page(context: Context, output: Json) -> list[str]:
    """When only the main part was read, nobody should take it for all."""
    if output["source"] in ("body", "html") or {"ref", "selector"} & set(context.arguments):
        return []
    return [f"(This is the page's <{output['source']}>. For all of it: selector body.)"]


def _length(usual: int) -> Json:
    return {"type": "integer", "minimum": 1, "maximum": usual, "description": f"Default {usual}."}


GET_TAB_CONTENT = browser_tool(
    name="browser_get_tab_content",
    title="Tab content",
    description=(
        "The text a person sees, of the page's main content or of one element, frames included."
    ),
    handler=_content,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "maxLength": _length(TEXT_CHARS),
        "maxTokens": MAX_TOKENS,
        "offset": OFFSET,
    },
    read_only=True,
    toolsets=BROWSER,
)

GET_PAGE_HTML = browser_tool(
    name="browser_get_page_html",
    title="Page HTML",
    description=(
        "HTML of the page as it is now, or of one element. Shadow roots are templates, documents "
        "of frames stand inside their frame."
    ),
    handler=_html,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "maxLength": _length(HTML_CHARS),
        "maxTokens": MAX_TOKENS,
        "offset": OFFSET,
    },
    read_only=True,
    toolsets=BROWSER,
)

GET_PAGE_TEXT = browser_tool(
    name="get_page_text",
    title="Page text",
    description="The text of a page, its article or main content first.",
    handler=with_tabs(_page_text),
    properties={
        "max_chars": {"type": "integer", "minimum": 1, "description": f"Default {TEXT_CHARS}."},
        "maxTokens": MAX_TOKENS,
        "offset": OFFSET,
    },
    read_only=True,
    same_as=("browser_get_tab_content",),
    toolsets=CLAUDE,
)


TOOLS = (
    READ_PAGE,
    CLAUDE_READ_PAGE,
    GET_TAB_CONTENT,
    GET_PAGE_HTML,
    GET_PAGE_TEXT,
)
