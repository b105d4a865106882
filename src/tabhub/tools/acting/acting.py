"""Acting on elements: click, hover, type, select, press keys, scroll, drag, answer dialogs.

The browser checks the element first, acts with trusted input, and reports the effect.
"""

from tabhub.errors import InvalidArguments
from tabhub.tools.acting.effects import (
    LOGIN,
    MODIFIERS,
    SETTLE,
    dialog_name,
    modifiers,
    observed,
    passed,
)
from tabhub.tools.acting.observing import OBSERVE
from tabhub.tools.acting.targets import (
    any_target,
    found_names,
    place,
    reached,
    target,
    target_name,
)
from tabhub.tools.tool import (
    BROWSER,
    COORDINATE,
    FIND,
    REF,
    SELECTOR,
    SHORT_COORDINATE,
    Context,
    Json,
    browser_tool,
)
from tabhub.wire.mcp.messages import CallResult

_ELEMENTS = ("ref", "selector", "find")
_END_KEYS = ({"ref"}, {"selector"}, {"find"}, {"coordinate"}, {"x", "y"})
"""Each way to name the end of a drag."""


async def _click(context: Context) -> CallResult:
    options = passed(context, "button", "clickCount")
    input = {**target(context), **modifiers(context), **options}
    return await _observed(context, "Clicked", await reached(context, "page.click", input))


async def _hover(context: Context) -> CallResult:
    output = await context.in_tab("page.hover", {**target(context), **passed(context)})
    return await _observed(context, "The mouse is over", output)


async def _type(context: Context) -> CallResult:
    input = {"clear": True, **target(context, _ELEMENTS), **passed(context, "text", "clear")}
    output = await context.in_tab("page.fill", input)
    _clear_secrets(context, output)
    return await _observed(context, "Typed into", output)


async def _select(context: Context) -> CallResult:
    input = {**target(context, _ELEMENTS), **passed(context, "value", "label")}
    output = await context.in_tab("page.select", input)
    _clear_secrets(context, output)
    return await _observed(context, "Selected in", output)


async def _press(context: Context) -> CallResult:
    element = any_target(context, _ELEMENTS)
    input = {**element, **modifiers(context), **passed(context, "key", "repeat")}
    output = await context.in_tab("page.press", input)
    _clear_secrets(context, output)
    on = f" on {target_name(context.arguments, output['effect'])}" if element else ""
    return await observed(context, f"Pressed {context.arguments['key']}{on}", output)


def _clear_secrets(context: Context, output: Json) -> None:
    """The audit log may show what was typed, unless it went into a sensitive field."""
    if output.get("sensitive") is False:
        context.call.secrets.clear()


async def _observed(context: Context, verb: str, output: Json) -> CallResult:
    name = target_name(context.arguments, output["effect"])
    return await observed(context, f"{verb} {name}", output)


async def _scroll(context: Context) -> CallResult:
    element = any_target(context, _ELEMENTS)
    input = {**element, **passed(context, "container", "direction", "distance", "position")}
    output = await context.in_tab("page.scroll", input)
    by_wheel = output["trusted"] or output.get("wheel", False)
    return await observed(context, _scrolled(output["effect"], by_wheel), output)


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
    start, end = (_end(context, name) for name in ("from", "to"))
    input = {"from": start, "to": end, **modifiers(context), **passed(context)}
    output = await reached(context, "page.drag", input)
    ends = [context.arguments[name] for name in ("from", "to")]
    found = found_names(output["effect"]) if any("find" in end for end in ends) else []
    names = [_end_name(end, found) for end in ends]
    return await observed(context, f"Dragged {names[0]} to {names[1]}", output)


def _end(context: Context, name: str) -> Json:
    given: Json = context.arguments[name]
    if given.keys() not in _END_KEYS:
        raise InvalidArguments(
            f"browser_drag: {name} is a ref, a selector, words (find), a coordinate of the latest "
            "screenshot, or a point of the viewport with x and y. Nothing was done."
        )
    return given if "x" in given else place(context, given)


def _end_name(given: Json, found: list[str]) -> str:
    if "x" in given:
        return f"({given['x']:g}, {given['y']:g})"
    return found.pop(0) if "find" in given else target_name(given, {})


async def _handle_dialog(context: Context) -> CallResult:
    output = await context.in_tab("page.dialog", passed(context, "action", "promptText"))
    answered = output["answered"]
    if answered["type"] != LOGIN:
        context.call.secrets.discard("promptText")
    verb = "Accepted" if context.arguments["action"] == "accept" else "Dismissed"
    return await observed(context, f"{verb} {dialog_name(answered)}", output, answered=answered)


_TARGET: Json = {"ref": REF, "selector": SELECTOR, "find": FIND}
_OPTIONS: Json = {"type": ["string", "array"], "items": {"type": "string"}}
_PLACE: Json = {
    "type": "object",
    "properties": {
        "ref": REF,
        "selector": SELECTOR,
        "find": FIND,
        "coordinate": COORDINATE,
        "x": {"type": "number", "description": "With y, CSS pixels of the viewport, like boxes."},
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
        **_TARGET,
        "coordinate": COORDINATE,
        "button": {"enum": ["left", "right", "middle"], "default": "left"},
        "clickCount": {"type": "integer", "minimum": 1, "maximum": 3},
        "modifiers": MODIFIERS,
        "settle": {**SETTLE, "description": "Most ms to wait for requests it starts."},
        "observe": OBSERVE,
    },
    listed={"coordinate": SHORT_COORDINATE},
)

HOVER_ELEMENT = browser_tool(
    name="browser_hover_element",
    title="Hover element",
    description="Move the mouse over an element and leave it there: menus and hints open.",
    handler=_hover,
    minor=True,
    properties={
        **_TARGET,
        "coordinate": COORDINATE,
        "settle": SETTLE,
        "observe": OBSERVE,
    },
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
        **_TARGET,
        "text": {"type": "string"},
        "clear": {"type": "boolean", "default": True},
        "settle": SETTLE,
        "observe": OBSERVE,
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
        **_TARGET,
        "value": _OPTIONS,
        "label": _OPTIONS,
        "settle": SETTLE,
        "observe": OBSERVE,
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
        **_TARGET,
        "modifiers": MODIFIERS,
        "repeat": {"type": "integer", "minimum": 1, "maximum": 100},
        "settle": SETTLE,
        "observe": OBSERVE,
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
    minor=True,
    properties={
        "direction": {"enum": ["up", "down", "left", "right"], "default": "down"},
        "distance": {
            "type": "integer",
            "minimum": 1,
            "description": "Pixels. Default most of the view.",
        },
        **_TARGET,
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
        "lists, drop zones."
    ),
    handler=_drag,
    properties={
        "from": _PLACE,
        "to": _PLACE,
        "modifiers": MODIFIERS,
        "settle": SETTLE,
        "observe": OBSERVE,
    },
    required=("from", "to"),
    unlisted=frozenset({"observe"}),
    listed={
        "from": {"type": "object", "description": "{ref}, {find} or {coordinate}"},
        "to": {"type": "object"},
    },
)

HANDLE_DIALOG = browser_tool(
    name="browser_handle_dialog",
    title="Handle dialog",
    description="Answer the alert, confirm, prompt or leave-page question that holds a page up.",
    handler=_handle_dialog,
    properties={
        "action": {"enum": ["accept", "dismiss"]},
        "promptText": {"type": "string"},
        "observe": OBSERVE,
    },
    required=("action",),
    unlisted=frozenset({"observe"}),
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
