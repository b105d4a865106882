"""Points of screenshots converted to points of the viewport."""

import pytest

from tabhub.errors import InvalidArguments
from tabhub.tools.state import Frame, Screenshots

HALF = Frame(400, 300, {"width": 800, "height": 600})


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ((0, 0), (0, 0)),
        ((100, 50), (200, 100)),
        ((399, 299), (798, 598)),
        ((402, -2), (798, 0)),
        ((-1.5, 301), (0, 598)),
    ],
)
def test_a_point_is_scaled_to_the_viewport_and_may_be_a_little_outside(
    point: tuple[float, float], expected: tuple[float, float]
) -> None:
    place = HALF.place(point)
    assert (place["x"], place["y"]) == expected


@pytest.mark.parametrize("point", [(403, 0), (0, 303), (-3, 0), (0, float("nan"))])
def test_the_error_for_a_point_outside_names_the_point_and_the_size(
    point: tuple[float, float],
) -> None:
    with pytest.raises(InvalidArguments, match=r"outside the screenshot, which is 400x300"):
        HALF.place(point)


def test_a_point_needs_a_screenshot() -> None:
    with pytest.raises(InvalidArguments, match="none of tab 5"):
        Screenshots(lambda: 0.0).required_frame("ann", 5)


ELEMENT = Frame(400, 300, {"width": 200, "height": 150}, (50.0, 1000.0))


def test_a_point_of_a_partial_screenshot_is_a_place_on_the_page() -> None:
    assert ELEMENT.place((100, 50)) == {"pageX": 100, "pageY": 1025}


def test_a_part_of_a_screenshot_is_a_region_of_the_page() -> None:
    box = {"x": 20, "y": 40, "width": 780, "height": 560}
    assert HALF.region((10, 20, 402, 300)) == {"region": box}
    part = {"x": 50, "y": 1000, "width": 200, "height": 150}
    region = ELEMENT.region((0, -1, 400, 300))
    assert region == {"region": part, "fullPage": True}


@pytest.mark.parametrize("corners", [(10, 10, 10, 20), (20, 10, 10, 20), (0, 0, 500, 10)])
def test_a_part_that_is_empty_or_outside_is_refused(corners: tuple[float, ...]) -> None:
    with pytest.raises(InvalidArguments):
        HALF.region(corners)
