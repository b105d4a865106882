"""Pictures as an agent acts on them: of the viewport, small enough to be seen whole."""

import secrets
from base64 import b64decode
from pathlib import Path

from tabhub.tools.capture.screenshots import shot_of
from tabhub.tools.files import save
from tabhub.tools.frame_points import captured_box
from tabhub.tools.state import Frame
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult, image, text

LONGEST_SIDE = 1568
MOST_ZOOM = 4


async def screenshot(context: Context) -> CallResult:
    """The viewport; its points are those of the full frame, also if it is shown smaller."""
    path = _path(context)
    scale = context.arguments.get("scale", 1)
    output = await _captured(context, {"scale": scale})
    frame = _frame(output, scale)
    shown, content = _kept(context, output, frame)
    size = f"{frame.width}x{frame.height}"
    note = f", shown at {scale:g}; coordinates are those of the full {size}" if scale != 1 else ""
    sentence = f"Screenshot captured ({_size(output)}, jpeg) - ID: {shown['id']}{note}."
    shown["frame"] = {"width": frame.width, "height": frame.height}
    return _result(sentence, content, shown, path)


async def viewport(context: Context) -> tuple[Json, Json]:
    """A fresh picture for the reply of something else: its data and its block."""
    output = await _captured(context, {})
    return _kept(context, output, _frame(output, 1))


async def zoom(context: Context) -> CallResult:
    """A part of the latest screenshot, magnified; what points refer to stays as it is."""
    path = _path(context)
    given = context.arguments
    box = captured_box(context, given["region"])
    longest = max(box["region"]["width"], box["region"]["height"])
    scale = min(LONGEST_SIDE / longest, MOST_ZOOM) * given.get("scale", 1)
    output = await context.in_tab("page.capture", {**box, "scale": scale})
    shown, content = _kept(context, output, None)
    corners = ", ".join(f"{value:g}" for value in given["region"])
    sentence = f"Zoomed into [{corners}] ({_size(output)}, jpeg) - ID: {shown['id']}."
    return _result(sentence, content, shown, path)


async def _captured(context: Context, input: Json) -> Json:
    output: Json = await context.in_tab("page.capture", {"maxSide": LONGEST_SIDE, **input})
    return output


def _frame(output: Json, scale: float) -> Frame:
    region, full = output["region"], output["scale"] / scale
    size = {"width": region["width"], "height": region["height"]}
    return Frame(round(region["width"] * full), round(region["height"] * full), size)


def _kept(context: Context, output: Json, frame: Frame | None) -> tuple[Json, Json]:
    """Remember a picture: what is told of it, and the block that shows it."""
    id = context.shots.keep(shot_of(context, output, frame))
    data: str = output["data"]
    rest = {key: value for key, value in output.items() if key != "data"}
    return {"tabId": context.tab.id, "id": id, **rest}, image(data, output["mimeType"])


def _size(output: Json) -> str:
    return f"{output['width']}x{output['height']}"


def _path(context: Context) -> Path | None:
    """Where to save it, if that is wanted; asked for before anything is done."""
    if not context.arguments.get("save_to_disk"):
        return None
    return context.files.place(f"screenshot-{secrets.token_hex(4)}.jpg", (".jpg",))


def _result(sentence: str, picture: Json, shown: Json, path: Path | None) -> CallResult:
    if path is not None:
        save(path, b64decode(picture["data"]))
        sentence, shown = f"{sentence} Saved as {path}.", {**shown, "path": str(path)}
    return CallResult(content=[text(sentence), picture], structured_content=shown)
