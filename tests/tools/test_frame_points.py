"""Points of screenshots as points of the viewport."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tabhub.errors import InvalidArguments
from tabhub.tools.frame_points import viewport_point
from tabhub.tools.shots import Frame, Shot, Shots
from tabhub.tools.tool import Context

REGION = {"x": 0.0, "y": 0.0, "width": 1, "height": 1}


def context(frame: Frame | None) -> Context:
    shots = Shots(lambda: 0.0)
    shots.keep(Shot("ann", 5, "", "image/png", 1, 1, 1.0, REGION, frame))
    found: Any = SimpleNamespace(
        shots=shots, tab=SimpleNamespace(id=5), job=SimpleNamespace(session="ann")
    )
    return cast(Context, found)


HALF = Frame(400, 300, {"width": 800, "height": 600})


@pytest.mark.parametrize(
    ("point", "wanted"),
    [
        ((0, 0), (0, 0)),
        ((100, 50), (200, 100)),
        ((399, 299), (798, 598)),
        ((402, -2), (798, 0)),
        ((-1.5, 301), (0, 598)),
    ],
)
def test_a_point_is_scaled_to_the_viewport_and_may_be_a_little_outside(
    point: tuple[float, float], wanted: tuple[float, float]
) -> None:
    found = viewport_point(context(HALF), point)
    assert (found["x"], found["y"]) == wanted


@pytest.mark.parametrize("point", [(403, 0), (0, 303), (-3, 0), (0, float("nan"))])
def test_a_point_outside_names_itself_and_the_size(point: tuple[float, float]) -> None:
    with pytest.raises(InvalidArguments, match=r"outside the screenshot, which is 400x300"):
        viewport_point(context(HALF), point)


def test_without_a_screenshot_a_point_means_nothing() -> None:
    with pytest.raises(InvalidArguments, match="none of tab 5"):
        viewport_point(context(None), (1, 1))
