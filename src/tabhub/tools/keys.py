"""The keyboard: single keys and chords, to an element or to what has the focus."""

from tabhub.tools.acting.effects import MODIFIERS, SETTLE, acted, given, modifiers
from tabhub.tools.tool import REF, SELECTOR, Context, browser_tool
from tabhub.wire.mcp.messages import CallResult


async def _press(context: Context) -> CallResult:
    named = context.arguments.keys() & {"ref", "selector"}
    target = context.element() if named else {}
    input = {**target, **modifiers(context), **given(context, "key", "repeat")}
    output = await context.in_tab("page.press", input)
    if output.get("sensitive") is False:
        context.call.secrets.clear()
    on = "".join(f" on {name}" for name in target.values())
    return acted(context, f"Pressed {context.arguments['key']}{on}", output)


PRESS_KEY = browser_tool(
    name="browser_press_key",
    title="Press key",
    description=(
        "Press a key or chord (Enter, Tab, ArrowDown, F5, a, ctrl+a; several between spaces) on "
        "an element or where the focus is. Tells the focused field's value."
    ),
    handler=_press,
    properties={
        "key": {"type": "string", "minLength": 1},
        "ref": REF,
        "selector": SELECTOR,
        "modifiers": MODIFIERS,
        "repeat": {"type": "integer", "minimum": 1, "maximum": 100},
        "settle": SETTLE,
    },
    required=("key",),
    secret_arguments=frozenset({"key"}),
)

TOOLS = (PRESS_KEY,)
