"""Tasks that drag elements."""

from tests.miniwob.page import Page
from tests.miniwob.policies.registry import solves
from tests.miniwob.policies.seeing import COLORS
from tests.miniwob.policies.words import ordinals, part
from tests.miniwob.snapshot import Line

WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


@solves("drag-circle", "drag-single-shape")
async def a_shape_aside(page: Page) -> None:
    seen = await page.read()
    (way,) = part(r"(left|right|up|down)", seen.task)
    shape = seen.all("circle", "rect", "polygon")[0]
    x, y = shape.middle
    right, down = WAYS[way]
    await page.drag(shape, (x + 30 * right, y + 30 * down))
    await page.click(seen.one("button", "Submit"))


@solves("drag-shapes")
async def shapes_into_a_box(page: Page) -> None:
    seen = await page.read()
    (name,) = part(r"all (\w+)s into", seen.task)
    role = {"rectangle": "rect", "circle": "circle", "triangle": "polygon"}[name]
    box = seen.hinted("shape-container")
    for shape in seen.all(role):
        if shape != box:
            await page.drag(shape, box)
    await page.click(seen.one("button", "Submit"))


async def _items(page: Page) -> list[tuple[str, str]]:
    return [(item["text"], item["ref"]) for item in await page.query("#area li")]


@solves("drag-sort-numbers")
async def numbers_into_order(page: Page) -> None:
    expected = sorted([text for text, _ in await _items(page)], key=int)
    for at in range(len(expected)):
        items = await _items(page)
        now = [text for text, _ in items].index(expected[at])
        if now != at:
            await page.drag(items[now][1], items[at][1])
    await page.click((await page.read()).one("button", "Submit"))


@solves("drag-items")
async def an_item_to_a_position(page: Page) -> None:
    seen = await page.read()
    (name,) = part(r"Drag (\S+)", seen.task)
    handles = [line for line in seen if "arrowthick" in line.hint]
    names = [text for text in seen.texts if text in {item for item, _ in await _items(page)}]
    at = names.index(name)
    to = _position(seen.task, at, len(names))
    x, y = handles[to].middle
    await page.drag(handles[at], (x, y + (8 if to > at else -8)))


def _position(task: str, at: int, count: int) -> int:
    if "one position" in task:
        return at + (1 if "down" in task else -1)
    if "top" in task:
        return 0
    return count - 1 if "bottom" in task else ordinals(task)[0]


@solves("drag-box")
async def a_box_into_another(page: Page) -> None:
    seen = await page.read()
    small, large = seen.named("s"), seen.named("L")
    # Where the small one is, it may cover the middle of the large one.
    await page.drag(small, (20, 195))
    await page.drag(small, large)
    await page.click(seen.one("button", "Submit"))


@solves("resize-textarea")
async def a_corner(page: Page) -> None:
    seen = await page.read()
    dimension, size = part(r"(width|height) is (smaller|larger)", seen.task)
    handle = seen.hinted("ui-resizable-handle")
    x, y = handle.middle
    by = 12 if size == "larger" else -12
    await page.drag(handle, (x + by, y) if dimension == "width" else (x, y + by))
    await page.click(seen.one("button", "Submit"))


@solves("draw-line")
async def a_line_through_a_dot(page: Page) -> None:
    seen = await page.read()
    x, y = seen.one("circle").middle
    across, down = (30, 0) if "horizontal" in seen.task else (0, 30)
    start = (x - across - 1, y - down - 1)
    await page.drag(start, (x + across - 1, y + down - 1))
    await page.click(seen.one("button", "Submit"))


@solves("drag-shapes-2")
async def shapes_into_two_boxes(page: Page) -> None:
    seen = await page.read()
    shapes = [line for line in seen.all("rect", "circle", "polygon") if line.box[2] < 30]
    left, right = sorted(
        (line for line in seen.all("rect") if line.box[2] > 30), key=lambda line: line.box[0]
    )
    for at, shape in enumerate(shapes):
        x, y, _, height = (left if _is_wanted(seen.task, shape) else right).box
        await page.drag(shape, (x + 11 + 12 * at, y + height / 2))
    await page.click(seen.one("button", "Submit"))


def _is_wanted(task: str, shape: Line) -> bool:
    (word,) = part(r"all (\w+)", task)
    role = {"rectangles": "rect", "circles": "circle", "triangles": "polygon"}.get(word)
    return shape.role == role if role else shape.attributes["color"] == COLORS[word]
