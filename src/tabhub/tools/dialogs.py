"""Answering the dialogs that pages open."""

from tabhub.tools.acting.effects import LOGIN, acted, given, worded
from tabhub.tools.tool import Context, browser_tool
from tabhub.wire.mcp.messages import CallResult


async def _handle(context: Context) -> CallResult:
    output = await context.in_tab("page.dialog", given(context, "action", "promptText"))
    answered = output["answered"]
    if answered["type"] != LOGIN:
        context.call.secrets.discard("promptText")
    did = "Accepted" if context.arguments["action"] == "accept" else "Dismissed"
    return acted(context, f"{did} {worded(answered)}", output, answered=answered)


HANDLE_DIALOG = browser_tool(
    name="browser_handle_dialog",
    title="Handle dialog",
    description="Answer the alert, confirm, prompt or leave-page question that holds a page up.",
    handler=_handle,
    properties={
        "action": {"enum": ["accept", "dismiss"]},
        "promptText": {"type": "string"},
    },
    required=("action",),
    # It may be a password.
    secret_arguments=frozenset({"promptText"}),
)

TOOLS = (HANDLE_DIALOG,)
