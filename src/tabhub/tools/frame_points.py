"""Points in the frame of a screenshot, as points of the viewport or of the page."""

from collections.abc import Sequence

from tabhub.errors import InvalidArguments
from tabhub.tools.state import Frame
from tabhub.tools.tool import Context, Json

TOLERANCE = 2
COORDINATE: Json = {
    "type": "array",
    "items": {"type": "number"},
    "minItems": 2,
    "maxItems": 2,
    "description": "[x, y] in the latest screenshot of the tab.",
}


def viewport_point(context: Context, coordinate: Sequence[float]) -> Json:
    """Where a point of the tab's latest screenshot is, in CSS pixels: a place for commands.

    In the viewport; of a picture of some part of the page, on the page, which may have scrolled.
    """
    frame = frame_of(context)
    x, y = _required(frame, coordinate)
    # What is a little outside counts as the edge.
    across = _scaled(min(x, frame.width - 1), frame.width, frame.viewport["width"])
    down = _scaled(min(y, frame.height - 1), frame.height, frame.viewport["height"])
    if frame.corner is None:
        return {"x": across, "y": down}
    return {"pageX": frame.corner[0] + across, "pageY": frame.corner[1] + down}


def captured_box(context: Context, corners: Sequence[float]) -> Json:
    """What to capture for the part of the latest screenshot between two corners."""
    frame = frame_of(context)
    left, top = _required(frame, corners[:2])
    right, bottom = _required(frame, corners[2:])
    if right - left < 1 or bottom - top < 1:
        raise InvalidArguments("A region is [x0, y0, x1, y1] with x0 < x1 and y0 < y1.")
    x, width = (_scaled(v, frame.width, frame.viewport["width"]) for v in (left, right - left))
    y, height = (_scaled(v, frame.height, frame.viewport["height"]) for v in (top, bottom - top))
    origin_x, origin_y = frame.corner or (0, 0)
    region = {"x": x + origin_x, "y": y + origin_y, "width": width, "height": height}
    return {"region": region} if frame.corner is None else {"region": region, "fullPage": True}


def frame_of(context: Context) -> Frame:
    """The frame of the tab's latest screenshot."""
    frame = context.shots.frame(context.session, context.tab.id)
    if frame is None:
        raise InvalidArguments(
            f"A coordinate is a point of a screenshot, and you have none of tab {context.tab.id} "
            "yet. Take one first, or name the element by ref."
        )
    return frame


def _required(frame: Frame, point: Sequence[float]) -> tuple[float, float]:
    """A point inside the frame."""
    x, y = point
    if not (_is_within(x, frame.width) and _is_within(y, frame.height)):
        raise InvalidArguments(
            f"The point ({x:g}, {y:g}) is outside the screenshot, which is "
            f"{frame.width}x{frame.height}."
        )
    return min(max(x, 0), frame.width), min(max(y, 0), frame.height)


def _is_within(value: float, size: int) -> bool:
    return -TOLERANCE <= value <= size + TOLERANCE


def _scaled(value: float, size: int, wanted: float) -> float:
    return value * wanted / size
