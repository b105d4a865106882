"""Frames as an animated GIF. Pillow is loaded only when someone wants one."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sin
from typing import TYPE_CHECKING

from tabhub.tools.gif_recordings import Frame, Point

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

LONGEST_SIDE = 1024
ORANGE, RED, DARK, WHITE = (255, 140, 0), (220, 30, 30), (20, 20, 20), (255, 255, 255)
RINGS = (10, 18, 26)
BAR = 6
MARK = "tabhub"
BEST, WORST = 1, 30


@dataclass(frozen=True)
class Options:
    """What is drawn over the frames, and how finely."""

    clicks: bool = True
    drags: bool = True
    labels: bool = True
    progress: bool = True
    watermark: bool = True
    quality: int = 10

    @property
    def colors(self) -> int:
        """From all that a GIF can have down to a few."""
        return round(256 - (self.quality - BEST) * (256 - 24) / (WORST - BEST))


Size = tuple[int, int]


def size_of(frame: Frame) -> Size:
    """How large a GIF that begins with this frame is."""
    width, height = frame.viewport
    part = min(1.0, LONGEST_SIDE / max(width, height))
    return max(1, round(width * part)), max(1, round(height * part))


def drawn(frame: Frame, size: Size, done: float, options: Options) -> Image.Image:
    """One frame as it is shown; `done` is how far the whole has come by then."""
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
    way = atan2(end[1] - start[1], end[0] - start[0])
    length = min(18.0, hypot(end[0] - start[0], end[1] - start[1]) or 18.0)
    barbs = [
        (end[0] - length * cos(way + turn), end[1] - length * sin(way + turn))
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
    _, _, right, bottom = draw.textbbox((0, 0), MARK, font=font)
    at = (size[0] - right - 10, 8)
    draw.rectangle((at[0] - 4, at[1] - 3, size[0], at[1] + bottom + 3), fill=DARK)
    draw.text(at, MARK, font=font, fill=WHITE)


def encoded(images: Sequence[Image.Image], delays: Sequence[int]) -> bytes:
    """The bytes of a GIF that goes on for ever."""
    target = io.BytesIO()
    told_apart = _told_apart(images)
    told_apart[0].save(
        target,
        "GIF",
        save_all=True,
        append_images=told_apart[1:],
        duration=list(delays),
        loop=0,
        optimize=False,
    )
    return target.getvalue()


def _told_apart(images: Sequence[Image.Image]) -> list[Image.Image]:
    """Two frames that look the same would become one: a corner of one is changed a little."""
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


def as_png(picture: bytes) -> bytes:
    """A picture of another kind as PNG."""
    from PIL import Image

    target = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        image.save(target, "PNG")
    return target.getvalue()
