"""Dragging: pressing in one place and letting go in another."""

from tabhub.errors import InvalidArguments
from tabhub.tools.acting.effects import MODIFIERS, SETTLE, acted, given, modifiers
from tabhub.tools.tool import BROWSER, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

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
    did = f"Dragged {_named(places['from'])} to {_named(places['to'])}"
    return acted(context, did, await context.in_tab("page.drag", input))


def _place(end: str, place: Json) -> Json:
    if place.keys() not in _WAYS:
        raise InvalidArguments(
            f"browser_drag: {end} is a ref, a selector, or a point with x and y."
        )
    return place


def _named(place: Json) -> str:
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

TOOLS = (DRAG,)
