"""The mouse: clicking, hovering, dragging and scrolling, at points or on elements."""

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from tabhub.errors import InvalidArguments, TabhubError
from tabhub.tools.acting.effects import acted
from tabhub.tools.claude.pictures import viewport
from tabhub.tools.frame_points import viewport_point
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult

TICK = 100
TICKS = 3
Action = Callable[[Context], Awaitable[CallResult]]


def clicker(did: str, button: str, count: int) -> Action:
    """An action that clicks in one way."""

    async def click(context: Context) -> CallResult:
        place, words = _place(context)
        how = {"button": button, "clickCount": count, "modifiers": _modifiers(context)}
        output = await context.in_tab("page.click", {**place, **how})
        return acted(context, f"{did} {words}", output)

    return click


async def hover(context: Context) -> CallResult:
    """Move the mouse somewhere and leave it there."""
    place, words = _place(context)
    return acted(context, f"Hovered {words}", await context.in_tab("page.hover", place))


async def drag(context: Context) -> CallResult:
    """Press at one point and let go at another."""
    given = context.arguments
    start, end = given["start_coordinate"], given["coordinate"]
    ends = {"from": viewport_point(context, start), "to": viewport_point(context, end)}
    output = await context.in_tab("page.drag", {**ends, "modifiers": _modifiers(context)})
    return acted(context, f"Dragged from {_point(start)} to {_point(end)}", output)


async def scroll(context: Context) -> CallResult:
    """Turn the wheel, and show what is in view then."""
    given = context.arguments
    place, words = _place(context)
    ticks = given.get("scroll_amount", TICKS)
    direction = given["scroll_direction"]
    how = {"direction": direction, "distance": round(ticks * TICK)}
    output = await context.in_tab("page.scroll", {**place, **how})
    did = f"Scrolled {direction} by {ticks:g} ticks {words}{_position(output['effect'])}"
    try:
        shown, picture = await viewport(context)
    except TabhubError as missed:
        # It has been done: whoever hears of an error would do it again.
        return acted(context, f"{did}. No picture: {missed.message.rstrip('.')}", output)
    result = acted(context, did, output, screenshot=shown)
    return replace(result, content=[*result.content, picture])


async def scroll_to(context: Context) -> CallResult:
    """Bring an element into view."""
    ref = context.arguments["ref"]
    output = await context.in_tab("page.scroll", {"ref": ref})
    return acted(context, f"Scrolled {ref} into view{_position(output['effect'])}", output)


def _place(context: Context) -> tuple[Json, str]:
    """What a call points at, for the browser and in words."""
    given = context.arguments
    if ("ref" in given) == ("coordinate" in given):
        raise InvalidArguments(
            f"computer: {given['action']} needs coordinate or ref, one of the two."
        )
    if "ref" in given:
        return {"ref": given["ref"]}, f"on element {given['ref']}"
    return viewport_point(context, given["coordinate"]), f"at {_point(given['coordinate'])}"


def _point(coordinate: list[float]) -> str:
    return f"({coordinate[0]:g}, {coordinate[1]:g})"


def _position(effect: Json) -> str:
    at = effect.get("position")
    if at is None:
        return ""
    stays = "" if effect["moved"] else "; it did not move"
    return f", to ({at['x']}, {at['y']}) of ({at['maxX']}, {at['maxY']}){stays}"


def _modifiers(context: Context) -> list[str]:
    held: str = context.arguments.get("modifiers", "")
    return [name.strip() for name in held.split("+") if name.strip()]
