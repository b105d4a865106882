"""Acting on elements: click, hover, type, select, press keys, scroll, drag, answer dialogs.

The browser checks the element first, acts with trusted input, and reports the effect.
"""

from tabhub.errors import InvalidArguments
from tabhub.tools.acting.effects import (
    LOGIN,
    MODIFIERS,
    SETTLE,
    acted,
    dialog_name,
    modifiers,
    passed,
)
from tabhub.tools.tool import BROWSER, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

_TARGETS = ("ref", "selector", "container")
_PLACE_KEYS = ({"ref"}, {"selector"}, {"x", "y"})
"""Each way to name the end of a drag."""


async def _click(context: Context) -> CallResult:
    options = passed(context, "button", "clickCount")
    input = {**context.element(), **modifiers(context), **options}
    return acted(context, f"Clicked {_target(context)}", await context.in_tab("page.click", input))


async def _hover(context: Context) -> CallResult:
    output = await context.in_tab("page.hover", {**context.element(), **passed(context)})
    return acted(context, f"The mouse is over {_target(context)}", output)


async def _type(context: Context) -> CallResult:
    input = {"clear": True, **context.element(), **passed(context, "text", "clear")}
    output = await context.in_tab("page.fill", input)
    _clear_secrets(context, output)
    return acted(context, f"Typed into {_target(context)}", output)


async def _select(context: Context) -> CallResult:
    input = {**context.element(), **passed(context, "value", "label")}
    output = await context.in_tab("page.select", input)
    _clear_secrets(context, output)
    return acted(context, f"Selected in {_target(context)}", output)


async def _press(context: Context) -> CallResult:
    has_target = context.arguments.keys() & {"ref", "selector"}
    element = context.element() if has_target else {}
    input = {**element, **modifiers(context), **passed(context, "key", "repeat")}
    output = await context.in_tab("page.press", input)
    _clear_secrets(context, output)
    on = "".join(f" on {name}" for name in element.values())
    return acted(context, f"Pressed {context.arguments['key']}{on}", output)


def _clear_secrets(context: Context, output: Json) -> None:
    """The audit log may show what was typed, unless it went into a sensitive field."""
    if output.get("sensitive") is False:
        context.call.secrets.clear()


def _target(context: Context) -> str:
    return str(next(iter(context.element().values())))


async def _scroll(context: Context) -> CallResult:
    input = passed(context, *_TARGETS, "direction", "distance", "position")
    output = await context.in_tab("page.scroll", input)
    by_wheel = output["trusted"] or output.get("wheel", False)
    return acted(context, _scrolled(output["effect"], by_wheel), output)


def _scrolled(effect: Json, by_wheel: bool) -> str:
    """The position after scrolling, and how far one can scroll."""
    if by_wheel:
        return "Nothing there is scrollable, so the mouse wheel was turned"
    at = effect.get("position")
    if at is None:
        return "Scrolled"
    place = f"({at['x']}, {at['y']}) of ({at['maxX']}, {at['maxY']})"
    return f"Scrolled to {place}" if effect["moved"] else f"It stays at {place}"


async def _drag(context: Context) -> CallResult:
    start, end = (_place(context, name) for name in ("from", "to"))
    input = {"from": start, "to": end, **modifiers(context), **passed(context)}
    action = f"Dragged {_place_name(start)} to {_place_name(end)}"
    return acted(context, action, await context.in_tab("page.drag", input))


def _place(context: Context, name: str) -> Json:
    place: Json = context.arguments[name]
    if place.keys() not in _PLACE_KEYS:
        raise InvalidArguments(
            f"browser_drag: {name} is a ref, a selector, or a point with x and y."
        )
    return place


def _place_name(place: Json) -> str:
    if "x" in place:
        return f"({place['x']:g}, {place['y']:g})"
    return str(next(iter(place.values())))


async def _handle_dialog(context: Context) -> CallResult:
    output = await context.in_tab("page.dialog", passed(context, "action", "promptText"))
    answered = output["answered"]
    if answered["type"] != LOGIN:
        context.call.secrets.discard("promptText")
    verb = "Accepted" if context.arguments["action"] == "accept" else "Dismissed"
    return acted(context, f"{verb} {dialog_name(answered)}", output, answered=answered)


_OPTIONS: Json = {"type": ["string", "array"], "items": {"type": "string"}}
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
        "Fill any kind of field; replaces what is there unless clear is false. Returns its new "
        "value."
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
        "A wrong one gets a list of the options."
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

PRESS_KEY = browser_tool(
    name="browser_press_key",
    title="Press key",
    description=(
        "Press a key or chord (Enter, Tab, ArrowDown, F5, a, ctrl+a; several between spaces) on "
        "an element or where the focus is. Returns the focused field's value."
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

DRAG = browser_tool(
    name="browser_drag",
    title="Drag",
    description=(
        "Drag from one element or point to another with the mouse button held: sliders, sortable "
        "lists, drop zones. A point is in CSS pixels of the viewport, like boxes."
    ),
    handler=_drag,
    properties={"from": _PLACE, "to": _PLACE, "modifiers": MODIFIERS, "settle": SETTLE},
    required=("from", "to"),
    toolsets=BROWSER,
)

HANDLE_DIALOG = browser_tool(
    name="browser_handle_dialog",
    title="Handle dialog",
    description="Answer the alert, confirm, prompt or leave-page question that holds a page up.",
    handler=_handle_dialog,
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
