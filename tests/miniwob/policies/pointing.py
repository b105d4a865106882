"""Points that are not elements, and what only a picture shows."""

import cmath
import math
import random
from collections.abc import Callable, Iterable

from PIL import Image

from tests.miniwob.page import Page
from tests.miniwob.policies.registry import solves
from tests.miniwob.policies.seeing import COLORS
from tests.miniwob.snapshot import Line, Snapshot

Point = tuple[float, float]
BLUE = COLORS["blue"]
BLACK, GREY, DARK, LIGHT = 60, 90, 128, 200


async def _mark(page: Page, aim: Callable[[Snapshot], Point]) -> None:
    """Set a blue mark where `aim` says, correct it by where it came to be, and submit."""
    seen = await page.read()
    await page.picture()
    x, y = map(math.floor, aim(seen))
    await page.click_at(x, y)
    left, top = map(math.floor, _blue(await page.read())[-1].middle)
    await page.click_at(2 * x - left, 2 * y - top)
    await page.click(seen.one("button", "Submit"))


def _blue(seen: Snapshot) -> list[Line]:
    return [circle for circle in seen.all("circle") if circle.attributes["color"] == BLUE]


def _black(seen: Snapshot) -> list[Line]:
    return [circle for circle in seen.all("circle") if circle not in _blue(seen)]


def _pixels(seen: Snapshot) -> list[Point]:
    """The points of the drawing, less its edges."""
    x, y, width, height = map(round, seen.all("img")[0].box)
    inside = range(x + 8, x + width - 8), range(y + 8, y + height - 8)
    return [(left, top) for left in inside[0] for top in inside[1]]


@solves("circle-center")
async def the_centre(page: Page) -> None:
    await _mark(page, lambda seen: seen.all("circle")[0].middle)


@solves("find-midpoint")
async def the_midpoint(page: Page) -> None:
    await _mark(page, lambda seen: _middle(*(circle.middle for circle in _black(seen))))


def _middle(first: Point, second: Point) -> Point:
    return (first[0] + second[0]) / 2, (first[1] + second[1]) / 2


def _angle(first: Point, vertex: Point, second: Point) -> float:
    """The angle at the vertex, in radians."""
    arms = [complex(x - vertex[0], y - vertex[1]) for x, y in (first, second)]
    return abs(cmath.phase(arms[0] / arms[1]))


@solves("bisect-angle")
async def half_an_angle(page: Page) -> None:
    def aim(seen: Snapshot) -> Point:
        vertex = _blue(seen)[0].middle
        first, second = (circle.middle for circle in _black(seen))
        far = [point for point in _pixels(seen) if math.dist(point, vertex) > 30]
        return min(far, key=lambda p: max(_angle(first, vertex, p), _angle(second, vertex, p)))

    await _mark(page, aim)


@solves("right-angle")
async def a_right_angle(page: Page) -> None:
    def aim(seen: Snapshot) -> Point:
        (first,), (vertex,) = _black(seen), _blue(seen)
        far = [point for point in _pixels(seen) if math.dist(point, vertex.middle) > 30]
        return min(far, key=lambda p: abs(_angle(first.middle, vertex.middle, p) - math.pi / 2))

    await _mark(page, aim)


HEAT = {"HOT": (0, 5), "WARM": (5, 10), "COLD": (10, 40), "ICE COLD": (40, 1000)}


@solves("hot-cold")
async def the_hot_place(page: Page) -> None:
    """Each word leaves only the places that are as far away as it says."""
    area = (await page.read()).hinted("touch-area")
    await page.picture()
    x, y, width, height = map(round, area.box)
    places: list[Point] = [
        (left, top) for left in range(x, x + width) for top in range(y, y + height)
    ]
    for _ in range(40):
        probe = _telling(places)
        await page.hover_at(*probe)
        heat = next(text for text in (await page.read()).texts if text in HEAT)
        if heat == "HOT":
            await page.click_at(*probe)
            return
        places = [place for place in places if _heat(probe, place) == heat]


def _heat(probe: Point, place: Point) -> str:
    distance = math.dist(probe, place)
    return next(word for word, (least, most) in HEAT.items() if least <= distance < most)


def _telling(places: list[Point]) -> Point:
    """The place of a few whose word would leave the fewest others."""
    chance = random.Random(len(places))
    some = chance.sample(places, min(len(places), 200))

    def left(probe: Point) -> int:
        words = [_heat(probe, place) for place in some]
        return sum(words.count(word) ** 2 for word in set(words))

    return min(some[:40], key=left)


@solves("count-sides")
async def sides_on_a_canvas(page: Page) -> None:
    seen = await page.read()
    drawing = await page.picture(seen.all("canvas")[0])
    sides = max(range(3, 8), key=lambda n: _regularity(drawing, n))
    await page.click(seen.one("button", str(sides)))


def _regularity(drawing: Image.Image, sides: int) -> float:
    """How strongly the distance of the outline from its middle repeats so often in a turn."""
    points = list(_dark(drawing))
    middle = sum(points) / len(points)
    arms = [point - middle for point in points]
    mean = sum(map(abs, arms)) / len(arms)
    return abs(sum((abs(arm) - mean) * cmath.exp(1j * sides * cmath.phase(arm)) for arm in arms))


def _dark(drawing: Image.Image) -> Iterable[complex]:
    for at, shade in enumerate(drawing.tobytes()):
        if shade < DARK:
            yield complex(at % drawing.width, at // drawing.width)


@solves("number-checkboxes")
async def a_digit_in_checkboxes(page: Page) -> None:
    """The example is a picture beside the boxes: 4 by 7 squares, some of them white."""
    seen = await page.read()
    boxes = seen.all("checkbox")
    left = round(max(box.box[0] + box.box[2] for box in boxes))
    top, bottom = round(boxes[0].box[1]), round(boxes[-1].box[1] + boxes[-1].box[3])
    part = (await page.picture()).crop((left + 4, top - 8, left + 80, bottom + 8))
    frame = part.point(lambda shade: 255 if shade < BLACK else 0).getbbox()
    assert frame
    inside = part.crop(frame)
    squares = inside.point(lambda shade: 255 if shade > GREY else 0).getbbox()
    # The middle of each square becomes one pixel.
    example = inside.crop(squares).resize((12, 21)).tobytes()
    for at, box in enumerate(boxes):
        column, row = at % 4 * 3 + 1, at // 4 * 3 + 1
        if example[row * 12 + column] > LIGHT:
            await page.click(box)
    await page.click(seen.one("button", "Submit"))
