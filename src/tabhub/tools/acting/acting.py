"""Acting on elements. The browser checks first, acts with trusted input, and says what happened."""

from tabhub.tools.acting.effects import MODIFIERS, SETTLE, acted, given, modifiers
from tabhub.tools.tool import BROWSER, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

_OPTIONS: Json = {
    "type": ["string", "array"],
    "items": {"type": "string"},
}


async def _click(context: Context) -> CallResult:
    input = {**context.element(), **modifiers(context), **given(context, "button", "clickCount")}
    return acted(context, f"Clicked {_named(context)}", await context.in_tab("page.click", input))


async def _hover(context: Context) -> CallResult:
    output = await context.in_tab("page.hover", {**context.element(), **given(context)})
    return acted(context, f"The mouse is over {_named(context)}", output)


async def _type(context: Context) -> CallResult:
    input = {"clear": True, **context.element(), **given(context, "text", "clear")}
    output = await context.in_tab("page.fill", input)
    if output.get("sensitive") is False:
        context.call.secrets.clear()
    return acted(context, f"Typed into {_named(context)}", output)


async def _select(context: Context) -> CallResult:
    input = {**context.element(), **given(context, "value", "label")}
    output = await context.in_tab("page.select", input)
    if output.get("sensitive") is False:
        context.call.secrets.clear()
    return acted(context, f"Selected in {_named(context)}", output)


def _named(context: Context) -> str:
    return str(next(iter(context.element().values())))


CLICK_ELEMENT = browser_tool(
    name="browser_click_element",
    title="Click element",
    description=(
        "Click an element with trusted input, once it is in view and nothing covers it. Says what "
        "the click did; if it cannot be clicked, why."
    ),
    handler=_click,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "button": {"enum": ["left", "right", "middle"], "default": "left"},
        "clickCount": {"type": "integer", "minimum": 1, "maximum": 3},
        "modifiers": MODIFIERS,
        "settle": {**SETTLE, "description": "Most ms to wait for requests it starts."},
    },
)

HOVER_ELEMENT = browser_tool(
    name="browser_hover_element",
    title="Hover element",
    description="Move the mouse over an element and leave it there: menus and hints open.",
    handler=_hover,
    properties={"ref": REF, "selector": SELECTOR, "settle": SETTLE},
    toolsets=BROWSER,
)

TYPE_TEXT = browser_tool(
    name="browser_type_text",
    title="Type text",
    description=(
        "Fill any kind of field; replaces what is there unless clear is false. Tells the value it "
        "then holds."
    ),
    handler=_type,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "text": {"type": "string"},
        "clear": {"type": "boolean", "default": True},
        "settle": SETTLE,
    },
    required=("text",),
    secret_arguments=frozenset({"text"}),
)

SELECT_OPTION = browser_tool(
    name="browser_select_option",
    title="Select option",
    description=(
        "Choose in a select by value or by label, one of the two; a list chooses several. "
        "A wrong one is answered with those there are."
    ),
    handler=_select,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "value": _OPTIONS,
        "label": _OPTIONS,
        "settle": SETTLE,
    },
    secret_arguments=frozenset({"value", "label"}),
)

TOOLS = (CLICK_ELEMENT, HOVER_ELEMENT, TYPE_TEXT, SELECT_OPTION)
