"""Running JavaScript in a page."""

import msgspec

from tabhub.calls.results import done
from tabhub.calls.untrusted import fenced
from tabhub.errors import Refused
from tabhub.tools.budget import MAX_TOKENS, chars
from tabhub.tools.caller_tabs import with_tabs
from tabhub.tools.tool import CLAUDE, Context, Json, browser_tool
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

TOOLS = (EXECUTE_SCRIPT, JAVASCRIPT_TOOL)
