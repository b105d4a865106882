"""A page, or a part of it, as plain text or as HTML."""

from tabhub.calls.results import done
from tabhub.calls.untrusted import fenced
from tabhub.errors import InvalidArguments, NotFound
from tabhub.tools.budget import MAX_TOKENS, chars
from tabhub.tools.caller_tabs import with_tabs
from tabhub.tools.kinds import about_kind
from tabhub.tools.reading.finding import BROWSER
from tabhub.tools.tool import CLAUDE, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

TEXT_CHARS = 50_000
HTML_CHARS = 200_000
HEAD_CHARS = 200
OFFSET: Json = {"type": "integer", "minimum": 0, "description": "Go on where a cut was."}
_KEPT = ("url", "title", "contentType", "source", "truncated", "next")


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
    return {"tabId": context.tab.id, **{key: output[key] for key in _KEPT if key in output}}


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

TOOLS = (GET_TAB_CONTENT, GET_PAGE_HTML, GET_PAGE_TEXT)
