"""Reading a page: its elements as lines of text, each with a ref to act on."""

from tabhub.calls.results import done
from tabhub.tools.tool import BrowserTool, Context
from tabhub.wire.mcp.messages import CallResult

DEPTH = 15
MAX_CHARS = 50_000


async def _read(context: Context) -> CallResult:
    given = context.job.arguments
    input = {
        "filter": given.get("filter", "all"),
        "depth": given.get("depth", DEPTH),
        "ref": given.get("ref_id"),
        "maxChars": given.get("max_chars", MAX_CHARS),
        "offset": given.get("offset", 0),
    }
    output = await context.in_tab("page.read", input)
    kept = {k: output[k] for k in ("url", "title", "nodes", "truncated", "next") if k in output}
    text = output["text"]
    if output.get("truncated"):
        text += f"\n(Cut here. Go on with offset {output['next']}, or give ref_id or depth.)"
    return done(text, {"tabId": context.tab.id, **kept})


READ_PAGE = BrowserTool(
    name="browser_read_page",
    title="Read page",
    description=(
        "The page as an indented tree: role, name, ref and state of each element, in all frames "
        "and shadow roots, off-screen ones too. Refs stay valid while the element lives."
    ),
    run=_read,
    properties={
        "filter": {"enum": ["all", "interactive"], "description": "Default all."},
        "depth": {"type": "integer", "minimum": 1, "description": f"Default {DEPTH}."},
        "ref_id": {"type": "string", "description": "Read only this element's subtree."},
        "max_chars": {"type": "integer", "minimum": 100, "description": f"Default {MAX_CHARS}."},
        "offset": {"type": "integer", "minimum": 0, "description": "Go on where a cut was."},
    },
    read_only=True,
)

TOOLS = (READ_PAGE,)
