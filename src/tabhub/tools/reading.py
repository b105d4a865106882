"""Reading a page: its elements as lines of text, each with a ref to act on."""

from tabhub.calls.results import done
from tabhub.tools.budget import MAX_TOKENS, chars
from tabhub.tools.tool import BrowserTool, Context, Json
from tabhub.tools.untrusted import fenced
from tabhub.wire.mcp.messages import CallResult

DEPTH = 15
MAX_CHARS = 50_000
_KEPT = ("url", "title", "nodes", "truncated", "next", "read")


async def _read(context: Context) -> CallResult:
    given = context.job.arguments
    input = {
        "filter": given.get("filter", "all"),
        "depth": given.get("depth", DEPTH),
        "ref": given.get("ref_id"),
        "maxChars": chars(given, "max_chars", MAX_CHARS),
        "offset": given.get("offset", 0),
        "since": given.get("since"),
    }
    output = await context.in_tab("page.read", input)
    kept = {key: output[key] for key in _KEPT if key in output}
    delta = {} if "since" not in given else {"delta": "since" in output}
    return done(_told(output, given.get("since")), {"tabId": context.tab.id, **kept, **delta})


def _told(output: Json, since: int | None) -> str:
    viewport = output["viewport"]
    lines = [
        *_about_delta(output, since),
        fenced(output["text"]),
        f"Read {output['read']}.",
        "",
        f"Viewport: {viewport['width']}x{viewport['height']}",
    ]
    if output["truncated"]:
        lines.append(f"(Cut here. Go on with offset {output['next']}, or give ref_id or depth.)")
    return "\n".join(lines)


def _about_delta(output: Json, since: int | None) -> list[str]:
    if since is None:
        return []
    if "since" not in output:
        return [f"(Read {since} is not known for this document any more: here is all of it.)"]
    if not output["text"]:
        return [f"(Nothing has changed since read {since}.)"]
    return [f"(What has changed since read {since}: + is new, - is gone.)"]


READ_PAGE = BrowserTool(
    name="browser_read_page",
    title="Read page",
    description=(
        "The page as an indented tree: role, name, ref and state of each element, in all frames "
        "and shadow roots. Refs stay valid while the element lives."
    ),
    run=_read,
    properties={
        "filter": {"enum": ["all", "interactive"], "default": "all"},
        "depth": {"type": "integer", "minimum": 1, "default": DEPTH},
        "ref_id": {"type": "string", "description": "Only this element's subtree."},
        "max_chars": {"type": "integer", "minimum": 100, "default": MAX_CHARS},
        "maxTokens": MAX_TOKENS,
        "offset": {"type": "integer", "minimum": 0, "description": "Go on where a cut was."},
        "since": {
            "type": "integer",
            "description": "Number of an earlier read: only what changed.",
        },
    },
    read_only=True,
)

TOOLS = (READ_PAGE,)
