"""The files a page is made of."""

from tabhub.calls.results import done
from tabhub.calls.untrusted import fenced
from tabhub.tools.budget import MAX_TOKENS, chars, fitting
from tabhub.tools.recorded import counted
from tabhub.tools.tool import BROWSER, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

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

TOOLS = (LIST_RESOURCES, GET_RESOURCE_CONTENT)
