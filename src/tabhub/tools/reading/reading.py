"""Reading a page: as a tree of elements with refs, as text, or as HTML."""

from tabhub.calls.marks import escaped, fenced, quoted
from tabhub.calls.results import done
from tabhub.errors import InvalidArguments, NotFound
from tabhub.tools.reports import MAX_TOKENS, char_limit, with_tabs
from tabhub.tools.tool import BROWSER, CLAUDE, FIND, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

PDF = "application/pdf"
DEPTH = 15
TREE_CHARS = 50_000
TEXT_CHARS = 50_000
HTML_CHARS = 200_000
HEAD_CHARS = 200
_TREE_DATA = ("url", "title", "contentType", "nodes", "truncated", "next", "total", "read")
_TEXT_DATA = ("url", "title", "contentType", "source", "truncated", "next")


async def _read(context: Context) -> CallResult:
    return await _tree(context, {"since": context.arguments.get("since")})


async def _read_measured(context: Context) -> CallResult:
    return await _tree(context, {"measure": True})


async def _tree(context: Context, more: Json) -> CallResult:
    arguments = context.arguments
    input = {
        "filter": arguments.get("filter", "all"),
        "depth": arguments.get("depth", DEPTH),
        **_part(context, "ref_id"),
        "maxChars": char_limit(arguments, "max_chars", TREE_CHARS),
        "offset": arguments.get("offset", 0),
        **more,
    }
    output: Json = await context.in_tab("page.read", input)
    data = {key: output[key] for key in _TREE_DATA if key in output}
    delta = {} if "since" not in arguments else {"delta": "since" in output}
    text = _tree_text(output, arguments.get("since"))
    return done(text, {"tabId": context.tab.id, **data, **delta})


def _part(context: Context, ref: str) -> Json:
    """The part of the page that the call names: by ref, by selector or by words."""
    arguments = context.arguments
    named: Json = {key: arguments[key] for key in (ref, "selector", "find") if key in arguments}
    if len(named) > 1:
        raise InvalidArguments(f"{context.call.tool.name}: give one of {', '.join(named)}.")
    if "find" in named:
        context.require_words(named["find"])
    return {"ref" if key == ref else key: value for key, value in named.items()}


def _tree_text(output: Json, since: int | None) -> str:
    viewport = output["viewport"]
    lines = [
        *_delta_note(output, since),
        fenced(output["text"]),
        *_type_note(output),
        *_cut_note(output),
        *unlistened_note(output),
        f"Read {output['read']}.",
        "",
        f"Viewport: {viewport['width']}x{viewport['height']}",
    ]
    return "\n".join(lines)


def _delta_note(output: Json, since: int | None) -> list[str]:
    if since is None:
        return []
    if "since" not in output:
        return [f"(Read {since} is no longer known for this document: here is the whole page.)"]
    if not output["text"]:
        return [f"(Nothing has changed since read {since}.)"]
    return [f"(What has changed since read {since}: + is new, - is gone.)"]


def _cut_note(output: Json) -> list[str]:
    if not output["truncated"]:
        return []
    size = ""
    if "total" in output:
        size = f" of {'' if output['whole'] else 'more than '}{output['total']} characters"
    return [f"(Cut here{size}. Go on with offset {output['next']}, or give ref_id or depth.)"]


def unlistened_note(output: Json) -> list[str]:
    if not output.get("unlistened"):
        return []
    return [
        "(What only listens for clicks is not listed and has no ref: the page, or others in its "
        "process, have too many elements or listeners.)"
    ]


def _type_note(output: Json) -> list[str]:
    """A note about a document that is not HTML."""
    kind: str | None = output.get("contentType")
    if kind is None:
        return []
    if kind == PDF:
        return [
            "(This is a PDF in the browser's own viewer, whose text cannot be read here: take "
            "browser_screenshot_tab, or browser_download_file for the file.)"
        ]
    if kind.startswith(("image/", "video/", "audio/")) and kind != "image/svg+xml":
        return [f"(This is not a page but {quoted(kind)}: browser_screenshot_tab shows it.)"]
    return [f"(This is not a page but {quoted(kind)}.)"]


async def _get_content(context: Context) -> CallResult:
    output = await _piece(context, "page.text", "maxLength", TEXT_CHARS)
    notes = [*_notes(output), *_partial_note(context, output)]
    text = "\n".join([fenced(output["text"]), *notes])
    return done(text, {**_text_data(context, output), "text": output["text"]})


async def _get_html(context: Context) -> CallResult:
    output = await _piece(context, "page.html", "maxLength", HTML_CHARS)
    text = "\n".join([fenced(output["text"]), *_notes(output)])
    return done(text, {**_text_data(context, output), "html": output["text"]})


async def _get_page_text(context: Context) -> CallResult:
    output = await _piece(context, "page.text", "max_chars", TEXT_CHARS)
    if not output["text"]:
        note = _type_note(output)
        sentence = note[0][1:-1] if note else "The page shows no text: it may be made of images."
        raise NotFound(sentence, "element_not_found")
    head = [
        f"Title: {escaped(output['title'][:HEAD_CHARS])}",
        f"URL: {escaped(output['url'][:HEAD_CHARS])}",
        f"Source element: <{escaped(output['source'])}>",
        "---",
    ]
    notes = _notes(output, "raise max_chars, or read_page by ref_id")
    text = "\n".join([fenced("\n".join([*head, output["text"]])), *notes])
    return done(text, {**_text_data(context, output), "text": output["text"]})


async def _piece(context: Context, command: str, parameter: str, default: int) -> Json:
    arguments = context.arguments
    limit = char_limit(arguments, parameter, default)
    input = {**_part(context, "ref"), "maxChars": limit, "offset": arguments.get("offset", 0)}
    output: Json = await context.in_tab(command, input)
    return output


def _text_data(context: Context, output: Json) -> Json:
    return {"tabId": context.tab.id, **{key: output[key] for key in _TEXT_DATA if key in output}}


def _notes(output: Json, alternative: str = "read a part by ref or selector") -> list[str]:
    notes = _type_note(output)
    if not output["truncated"]:
        return notes
    return [*notes, f"(Cut here. Go on with offset {output['next']}, or {alternative}.)"]


def _partial_note(context: Context, output: Json) -> list[str]:
    """A note if only the main content was read, so that it is not taken for the whole page."""
    if output["source"] in ("body", "html") or {"ref", "selector", "find"} & set(context.arguments):
        return []
    return [
        f"(This is the page's element {quoted(output['source'])}. For all of it: selector body.)"
    ]


_OFFSET: Json = {"type": "integer", "minimum": 0, "description": "Go on where a cut was."}
_READ_PARAMETERS: Json = {
    "filter": {"enum": ["all", "interactive"], "default": "all"},
    "depth": {"type": "integer", "minimum": 1, "default": DEPTH},
    "ref_id": REF,
    "selector": SELECTOR,
    "find": FIND,
    "max_chars": {"type": "integer", "minimum": 100, "default": TREE_CHARS},
    "maxTokens": MAX_TOKENS,
    "offset": _OFFSET,
}


_PART = "Or a part: ref_id, selector, words to find."


def _max_length(most: int) -> Json:
    return {"type": "integer", "minimum": 1, "maximum": most, "description": f"Default {most}."}


READ_PAGE = browser_tool(
    name="browser_read_page",
    title="Read page",
    description=(
        "The page as a tree: role, name, ref and state of each element, in all frames "
        f"and shadow roots. Refs stay valid while the element lives. {_PART}"
    ),
    handler=_read,
    properties={
        **_READ_PARAMETERS,
        "since": {
            "type": "integer",
            "description": "An earlier read: only what changed.",
        },
    },
    read_only=True,
)

CLAUDE_READ_PAGE = browser_tool(
    name="read_page",
    title="Read page",
    description=(
        "The page as an indented tree: role, name, ref and state of each element, off-screen too, "
        f"in all frames and shadow roots. {_PART}"
    ),
    handler=with_tabs(_read_measured),
    properties=_READ_PARAMETERS,
    read_only=True,
    same_as=("browser_read_page",),
    toolsets=CLAUDE,
)

GET_TAB_CONTENT = browser_tool(
    name="browser_get_tab_content",
    title="Tab content",
    description=(
        "The text a person sees, of the page's main content or of one element, frames included. "
        "With find: of the part that has these words."
    ),
    handler=_get_content,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "find": FIND,
        "maxLength": _max_length(TEXT_CHARS),
        "maxTokens": MAX_TOKENS,
        "offset": _OFFSET,
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
    handler=_get_html,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "maxLength": _max_length(HTML_CHARS),
        "maxTokens": MAX_TOKENS,
        "offset": _OFFSET,
    },
    read_only=True,
    toolsets=BROWSER,
)

GET_PAGE_TEXT = browser_tool(
    name="get_page_text",
    title="Page text",
    description="The text of a page, its article or main content first.",
    handler=with_tabs(_get_page_text),
    properties={
        "max_chars": {"type": "integer", "minimum": 1, "description": f"Default {TEXT_CHARS}."},
        "maxTokens": MAX_TOKENS,
        "offset": _OFFSET,
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
