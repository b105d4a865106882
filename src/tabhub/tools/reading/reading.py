"""Reading a page: its elements as lines of text, each with a ref to act on."""

from tabhub.calls.results import done
from tabhub.calls.untrusted import fenced
from tabhub.tools.budget import MAX_TOKENS, chars
from tabhub.tools.caller_tabs import with_tabs
from tabhub.tools.kinds import about_kind
from tabhub.tools.tool import CLAUDE, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

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

TOOLS = (READ_PAGE, CLAUDE_READ_PAGE)
