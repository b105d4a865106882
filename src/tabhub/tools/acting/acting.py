"""Acting on elements. The browser checks first, acts with trusted input, and says what happened."""

from tabhub.errors import InvalidArguments
from tabhub.tools.acting.effects import LOGIN, MODIFIERS, SETTLE, acted, given, modifiers, worded
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


_PLACES = ("ref", "selector", "container")


async def _scroll(context: Context) -> CallResult:
    input = given(context, *_PLACES, "direction", "distance", "position")
    output = await context.in_tab("page.scroll", input)
    by_wheel = output["trusted"] or output.get("wheel", False)
    return acted(context, _told(output["effect"], by_wheel), output)


def _told(effect: Json, by_wheel: bool) -> str:
    """Where it is now, and where it ends."""
    if by_wheel:
        return "Nothing scrolls there by itself, so the mouse wheel was turned"
    at = effect.get("position")
    if at is None:
        return "Scrolled"
    place = f"({at['x']}, {at['y']}) of ({at['maxX']}, {at['maxY']})"
    return f"Scrolled to {place}" if effect["moved"] else f"It stays at {place}"


SCROLL = browser_tool(
    name="browser_scroll",
    title="Scroll",
    description=(
        "Scroll the page or a container by direction or to a position; with only ref or "
        "selector, that element into view."
    ),
    handler=_scroll,
    properties={
        "direction": {"enum": ["up", "down", "left", "right"], "default": "down"},
        "distance": {
            "type": "integer",
            "minimum": 1,
            "description": "Pixels. Default most of the view.",
        },
        "ref": REF,
        "selector": SELECTOR,
        "container": {"type": "string", "description": "CSS of what is to be scrolled."},
        "position": {
            "type": "object",
            "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
        },
        "settle": SETTLE,
    },
)


_WAYS = ({"ref"}, {"selector"}, {"x", "y"})
_PLACE: Json = {
    "type": "object",
    "properties": {
        "ref": REF,
        "selector": SELECTOR,
        "x": {"type": "number"},
        "y": {"type": "number"},
    },
    "additionalProperties": False,
}


async def _drag(context: Context) -> CallResult:
    places = {end: _place(end, context.arguments[end]) for end in ("from", "to")}
    input = {**places, **modifiers(context), **given(context)}
    did = f"Dragged {_place_named(places['from'])} to {_place_named(places['to'])}"
    return acted(context, did, await context.in_tab("page.drag", input))


def _place(end: str, place: Json) -> Json:
    if place.keys() not in _WAYS:
        raise InvalidArguments(
            f"browser_drag: {end} is a ref, a selector, or a point with x and y."
        )
    return place


def _place_named(place: Json) -> str:
    if "x" in place:
        return f"({place['x']:g}, {place['y']:g})"
    return str(next(iter(place.values())))


DRAG = browser_tool(
    name="browser_drag",
    title="Drag",
    description=(
        "Drag from one element or point to another with the mouse button held: sliders, sortable "
        "lists, drop zones. A point is in CSS pixels of the viewport, as boxes are told."
    ),
    handler=_drag,
    properties={"from": _PLACE, "to": _PLACE, "modifiers": MODIFIERS, "settle": SETTLE},
    required=("from", "to"),
    toolsets=BROWSER,
)


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


TOOLS = (
    CLICK_ELEMENT,
    HOVER_ELEMENT,
    TYPE_TEXT,
    SELECT_OPTION,
    PRESS_KEY,
    SCROLL,
    DRAG,
    HANDLE_DIALOG,
)
