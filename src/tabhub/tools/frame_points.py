"""Points in the frame of a screenshot, as points of the viewport."""

from collections.abc import Sequence

from tabhub.errors import InvalidArguments
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
    """Where in the viewport, in CSS pixels, a point of the tab's latest screenshot is."""
    frame = context.shots.frame(context.job.session, context.tab.id)
    if frame is None:
        raise InvalidArguments(
            f"A coordinate is a point of a screenshot, and you have none of tab {context.tab.id} "
            "yet. Take one of its viewport first, or name the element by ref."
        )
    x, y = coordinate
    if not (_is_within(x, frame.width) and _is_within(y, frame.height)):
        raise InvalidArguments(
            f"The point ({x:g}, {y:g}) is outside the screenshot, which is "
            f"{frame.width}x{frame.height}."
        )
    return {
        "x": _scaled(x, frame.width, frame.viewport["width"]),
        "y": _scaled(y, frame.height, frame.viewport["height"]),
    }


def _is_within(value: float, size: int) -> bool:
    return -TOLERANCE <= value <= size + TOLERANCE


def _scaled(value: float, size: int, wanted: float) -> float:
    """What is a little outside counts as the edge."""
    inside = min(max(value, 0), size - 1)
    return inside * wanted / size
