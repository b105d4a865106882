"""Setting form fields, whatever kind they are."""

from collections.abc import Mapping
from typing import Any

from tabhub.tools.acting.effects import acted
from tabhub.tools.caller_tabs import with_tabs
from tabhub.tools.tool import CLAUDE, REF, Context, browser_tool
from tabhub.wire.mcp.messages import CallResult


async def _form_input(context: Context) -> CallResult:
    given = context.arguments
    output = await context.in_tab("page.set", {"ref": given["ref"], "value": given["value"]})
    if output["sensitive"] is False:
        context.call.secrets.clear()
    before = output["before"]
    return acted(context, f"Set {given['ref']}, which held {before!r}", output, before=before)


def _same_as(given: Mapping[str, Any]) -> tuple[str, ...]:
    ticks = isinstance(given.get("value"), bool)
    return ("browser_click_element",) if ticks else ("browser_type_text", "browser_select_option")


FORM_INPUT = browser_tool(
    name="form_input",
    title="Set form field",
    description=(
        "Set a form field: true or false for boxes and radios, an option's value or text for "
        "selects, text or numbers for others. Tells the old and the new value."
    ),
    handler=with_tabs(_form_input),
    properties={
        "ref": REF,
        "value": {"type": ["string", "boolean", "number"]},
        "action_summary": {"type": "string"},
    },
    required=("ref", "value"),
    secret_arguments=frozenset({"value"}),
    same_as=_same_as,
    toolsets=CLAUDE,
)

TOOLS = (FORM_INPUT,)
