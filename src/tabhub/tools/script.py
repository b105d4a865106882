"""Running JavaScript in a page."""

import msgspec

from tabhub.calls.results import done
from tabhub.errors import Refused
from tabhub.tools.tool import BrowserTool, Context, Json
from tabhub.wire.mcp.messages import CallResult

SHOWN_CHARS = 50_000


async def _execute(context: Context) -> CallResult:
    input = {"code": context.job.arguments["code"], "timeoutMs": context.wait_ms}
    output = await context.in_tab("page.evaluate", input)
    thrown = output.get("exception")
    if thrown is not None:
        raise _script_error(thrown)
    value = output.get("value")
    shown = output.get("description") or msgspec.json.encode(value).decode()
    return done(_cut(shown), {"value": value})


def _cut(shown: str) -> str:
    """A model reads the text; a program that wants all of it has the structured content."""
    if len(shown) <= SHOWN_CHARS:
        return shown
    return f"{shown[:SHOWN_CHARS]}\n(Cut here: {len(shown)} characters in all.)"


def _script_error(thrown: Json) -> Refused:
    message, stack = str(thrown.get("message", "")), str(thrown.get("stack") or "")
    sentence = f"The script threw: {message}"
    return Refused(
        f"{sentence}\n{stack}" if stack else sentence,
        "script_error",
        data={"message": message, "stack": stack},
    )


EXECUTE_SCRIPT = BrowserTool(
    name="browser_execute_script",
    title="Execute JavaScript",
    description=(
        "Run JavaScript in the page; the value of the last expression comes back as JSON. `return` "
        "and top-level `await` work."
    ),
    run=_execute,
    properties={"code": {"type": "string"}},
    required=("code",),
)

TOOLS = (EXECUTE_SCRIPT,)
