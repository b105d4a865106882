"""Shapes, colours and positions."""

import math
import re

from tests.miniwob.page import Page
from tests.miniwob.policies.registry import solves
from tests.miniwob.policies.words import part
from tests.miniwob.snapshot import Line, Snapshot

COLORS = {
    "red": "#ff0000",
    "green": "#008000",
    "blue": "#0000ff",
    "aqua": "#00ffff",
    "cyan": "#00ffff",
    "black": "#000000",
    "magenta": "#ff00ff",
    "yellow": "#ffff00",
    "lime": "#00ff00",
    "olive": "#808000",
    "orange": "#ffa500",
    "pink": "#ffc0cb",
    "purple": "#800080",
    "white": "#ffffff",
    "grey": "#808080",
    "gray": "#808080",
    "maroon": "#800000",
    "navy": "#000080",
    "silver": "#c0c0c0",
    "teal": "#008080",
    "gold": "#ffd700",
}
SHAPES = {"rectangle": "rect", "circle": "circle", "triangle": "polygon"}
DRAWN = ("text", "rect", "circle", "polygon")


@solves("click-color")
async def a_patch_of_colour(page: Page) -> None:
    seen = await page.read()
    patches = seen.all("img")
    colour = re.search(r"the (\w+) colored", seen.task)
    if colour:
        color = COLORS[colour[1]]
    else:
        color, patches = patches[0].attributes["color"], patches[1:]
    await page.click(next(line for line in patches if line.attributes["color"] == color))


@solves("click-shades")
async def shades_of_a_colour(page: Page) -> None:
    seen = await page.read()
    (name,) = part(r"shades of (\w+)", seen.task)
    channel = ("red", "green", "blue").index(name)
    for line in seen.all("img"):
        levels = [int(line.attributes["color"][at : at + 2], 16) for at in (1, 3, 5)]
        if max(levels) == levels[channel]:
            await page.click(line)
    await page.click(seen.one("button", "Submit"))


def _distance(first: Line, second: Line) -> float:
    return math.dist(first.middle, second.middle)


def _fits(line: Line, words: str) -> bool:
    """Whether a shape matches a description like "large red digit"."""
    return all(_is(line, word.removesuffix("s")) for word in words.split())


def _is(line: Line, word: str) -> bool:
    if word in COLORS:
        return line.attributes["color"] == COLORS[word]
    if word in ("large", "small"):
        edge = 15
        return (line.box[3] > edge) == (word == "large")
    if word in SHAPES:
        return line.role == SHAPES[word]
    if word in ("digit", "letter", "shape"):
        return _kind(line) == word
    return word in ("item", "a", "an") or line.name == word


def _kind(line: Line) -> str:
    if line.role != "text":
        return "shape"
    return "digit" if line.name.isdigit() else "letter"


def _fitting(seen: Snapshot, words: str) -> list[Line]:
    return [line for line in seen.all(*DRAWN) if _fits(line, words)]


@solves("click-shape")
async def a_described_shape(page: Page) -> None:
    seen = await page.read()
    (words,) = part(r"Click on an? (.*)", seen.task)
    await page.click(_fitting(seen, words)[0])


@solves("count-shape")
async def how_many(page: Page) -> None:
    seen = await page.read()
    (words,) = part(r"How many (.*) are there", seen.task)
    await page.click(seen.one("button", str(len(_fitting(seen, words)))))


@solves("identify-shape")
async def what_it_is(page: Page) -> None:
    seen = await page.read()
    shape = seen.all(*DRAWN)[0]
    names = {"rect": "Rectangle", "circle": "Circle", "polygon": "Triangle"}
    kind = {"digit": "Number", "letter": "Letter"}.get(_kind(shape))
    await page.click(seen.one("button", kind or names[shape.role]))


@solves("grid-coordinate")
async def a_grid_point(page: Page) -> None:
    seen = await page.read()
    x, y = map(int, part(r"\((-?\d+),(-?\d+)\)", seen.task))
    points = seen.all("circle")
    columns = sorted({line.middle[0] for line in points})
    rows = sorted({line.middle[1] for line in points}, reverse=True)
    target = (columns[x + 2], rows[y + 2])
    await page.click(next(line for line in points if line.middle == target))


@solves("ascending-numbers")
async def numbers_in_turn(page: Page) -> None:
    """After the first, only their squares are left."""
    numbers = (await page.read()).all("text")
    for line in sorted(numbers, key=lambda line: int(line.name)):
        squares = (await page.read()).all("rect") or [line]
        await page.click(min(squares, key=lambda square: _distance(square, line)))


@solves("visual-addition")
async def blocks(page: Page) -> None:
    seen = await page.read()
    await page.type(seen.one("textbox"), str(len(seen.all("img"))))
    await page.click(seen.one("button", "Submit"))
