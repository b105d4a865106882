"""Draws recorded frames as an animated GIF.

Pillow takes long to import, so it is imported only when a GIF is made.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sin
from typing import TYPE_CHECKING

from tabhub.tools.state import GifFrame, Point

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

LONGEST_SIDE = 1024
ORANGE, RED, DARK, WHITE = (255, 140, 0), (220, 30, 30), (20, 20, 20), (255, 255, 255)
RINGS = (10, 18, 26)
BAR = 6
WATERMARK = "tabhub"
BEST, WORST = 1, 30
"""The range of the option quality."""

Size = tuple[int, int]


@dataclass(frozen=True)
class Options:
    """What to draw on the frames, and in what quality."""

    clicks: bool = True
    drags: bool = True
    labels: bool = True
    progress: bool = True
    watermark: bool = True
    quality: int = 10

    @property
    def colors(self) -> int:
        """How many colors the quality allows: at most the 256 of a GIF."""
        return round(256 - (self.quality - BEST) * (256 - 24) / (WORST - BEST))


def size_of(frame: GifFrame) -> Size:
    """The size of a GIF that begins with this frame."""
    width, height = frame.viewport
    part = min(1.0, LONGEST_SIDE / max(width, height))
    return max(1, round(width * part)), max(1, round(height * part))


def drawn(frame: GifFrame, size: Size, done: float, options: Options) -> Image.Image:
    """Draw one frame; `done` is the share of the GIF that has played when it is shown."""
    from PIL import Image, ImageDraw

    with Image.open(io.BytesIO(frame.picture)) as picture:
        image = picture.convert("RGB").resize(size)
    draw = ImageDraw.Draw(image)
    across, down = size[0] / frame.viewport[0], size[1] / frame.viewport[1]
    if options.clicks and frame.click:
        _rings(draw, (frame.click[0] * across, frame.click[1] * down))
    if options.drags and frame.drag:
        (x0, y0), (x1, y1) = frame.drag
        _arrow(draw, (x0 * across, y0 * down), (x1 * across, y1 * down))
    if options.labels:
        _label(draw, frame.label, size)
    if options.progress:
        draw.rectangle((0, size[1] - BAR, round(size[0] * done), size[1]), fill=ORANGE)
    if options.watermark:
        _watermark(draw, size)
    dither = Image.Dither.FLOYDSTEINBERG if options.quality <= 10 else Image.Dither.NONE
    return image.quantize(options.colors, dither=dither)


def _rings(draw: ImageDraw.ImageDraw, at: Point) -> None:
    x, y = at
    for radius in RINGS:
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), outline=ORANGE, width=3)


def _arrow(draw: ImageDraw.ImageDraw, start: Point, end: Point) -> None:
    draw.line((start, end), fill=RED, width=4)
    angle = atan2(end[1] - start[1], end[0] - start[0])
    length = min(18.0, hypot(end[0] - start[0], end[1] - start[1]) or 18.0)
    barbs = [
        (end[0] - length * cos(angle + turn), end[1] - length * sin(angle + turn))
        for turn in (pi / 7, -pi / 7)
    ]
    draw.polygon([end, *barbs], fill=RED)


def _label(draw: ImageDraw.ImageDraw, text: str, size: Size) -> None:
    from PIL import ImageFont

    font = ImageFont.load_default(18)
    left, top, right, bottom = draw.textbbox((14, size[1] - 44), text, font=font)
    draw.rectangle((left - 6, top - 5, right + 6, bottom + 5), fill=DARK)
    draw.text((14, size[1] - 44), text, font=font, fill=WHITE)


def _watermark(draw: ImageDraw.ImageDraw, size: Size) -> None:
    from PIL import ImageFont

    font = ImageFont.load_default(14)
    _, _, right, bottom = draw.textbbox((0, 0), WATERMARK, font=font)
    at = (size[0] - right - 10, 8)
    draw.rectangle((at[0] - 4, at[1] - 3, size[0], at[1] + bottom + 3), fill=DARK)
    draw.text(at, WATERMARK, font=font, fill=WHITE)


def encoded(images: Sequence[Image.Image], delays: Sequence[int]) -> bytes:
    """The bytes of a GIF that repeats endlessly."""
    target = io.BytesIO()
    distinct = _distinct(images)
    distinct[0].save(
        target,
        "GIF",
        save_all=True,
        append_images=distinct[1:],
        duration=list(delays),
        loop=0,
        optimize=False,
    )
    return target.getvalue()


def _distinct(images: Sequence[Image.Image]) -> list[Image.Image]:
    """Change a corner pixel of each repeated frame: Pillow would merge equal frames into one."""
    found = list(images[:1])
    for image in images[1:]:
        same = image.convert("RGB").tobytes() == found[-1].convert("RGB").tobytes()
        found.append(_changed(image) if same else image)
    return found


def _changed(image: Image.Image) -> Image.Image:
    from PIL import Image

    plain = image.convert("RGB")
    red, green, blue = plain.crop((0, 0, 1, 1)).tobytes()
    plain.putpixel((0, 0), (red ^ 16, green, blue))
    return plain.quantize(dither=Image.Dither.NONE)
