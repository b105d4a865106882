"""Sizes and colours of pictures, decoded by a browser."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.support.browsers.cdp import Cdp

Color = tuple[int, int, int]
LOOK = """(async () => {{
  const answer = await fetch("data:{mime};base64,{data}");
  const bitmap = await createImageBitmap(await answer.blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const color = ([x, y]) => [...context.getImageData(x, y, 1, 1).data].slice(0, 3);
  return [bitmap.width, bitmap.height, {points}.map(color)];
}})()"""


class Look(NamedTuple):
    """Size and colours of a picture."""

    width: int
    height: int
    colors: list[Color]


async def look(cdp: Cdp, picture: dict[str, Any], points: Sequence[Sequence[int]] = ()) -> Look:
    """An image block as a browser sees it, with the colours at some points."""
    target = await cdp.open("about:blank")
    code = LOOK.format(
        mime=picture["mimeType"], data=picture["data"], points=[list(point) for point in points]
    )
    width, height, colors = await cdp.evaluate(target, code)
    await cdp.send("Target.closeTarget", targetId=target)
    return Look(width, height, [(red, green, blue) for red, green, blue in colors])


def is_near(color: Color, expected: Color, slack: int = 12) -> bool:
    return all(
        abs(actual - channel) <= slack for actual, channel in zip(color, expected, strict=True)
    )
