"""Scrolling: the page, what scrolls inside it, or an element into view."""

from tabhub.tools.acting.effects import SETTLE, acted, given
from tabhub.tools.tool import REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

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

TOOLS = (SCROLL,)
