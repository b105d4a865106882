"""One tool with the actions of a hand and an eye."""

import asyncio
import secrets
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tabhub.calls.results import done
from tabhub.errors import InvalidArguments, TabhubError
from tabhub.tools.acting.effects import acted
from tabhub.tools.capture.screenshots import COORDINATE, captured_box, shot_of, viewport_point
from tabhub.tools.files import save
from tabhub.tools.reports import with_tabs
from tabhub.tools.state import Frame
from tabhub.tools.tool import CLAUDE, REF, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult, image, text

_ZOOM_HOLDERS = {"ctrl", "control", "cmd", "command", "meta", "win", "windows"}
_ZOOM_KEYS = {"=", "-", "_", "0", "plus", "minus", ""}
"""A chord that ends with the plus key itself ends with nothing, once it is parted."""


async def type_text(context: Context) -> CallResult:
    """Type a text where the focus is."""
    output = await context.in_tab("page.type", {"text": context.arguments["text"]})
    return _told(context, "Typed {}", output)


async def press(context: Context) -> CallResult:
    """Press keys or chords, several times if so wanted."""
    given = context.arguments
    for chord in given["text"].split():
        _refuse_zoom(chord)
    repeat = given.get("repeat", 1)
    output = await context.in_tab("page.press", {"key": given["text"], "repeat": repeat})
    keys = max(len(given["text"].split()), 1) * repeat
    return _told(context, f"Pressed {keys} {'key' if keys == 1 else 'keys'}: {{}}", output)


def _refuse_zoom(chord: str) -> None:
    *held, key = chord.lower().split("+")
    if _ZOOM_HOLDERS.intersection(held) and key in _ZOOM_KEYS:
        raise InvalidArguments(
            f"{chord} would zoom the page, which is not supported. The action zoom shows a part "
            "of a screenshot larger."
        )


def _told(context: Context, did: str, output: Json) -> CallResult:
    """What was typed is repeated, unless it went into a field for secrets."""
    if output["sensitive"] is False:
        context.call.secrets.clear()
        return acted(context, did.format(repr(context.arguments["text"])), output)
    return acted(context, did.format("••••••"), output)


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


TICK = 100
TICKS = 3
Action = Callable[[Context], Awaitable[CallResult]]


def clicker(did: str, button: str, count: int) -> Action:
    """An action that clicks in one way."""

    async def click(context: Context) -> CallResult:
        place, words = _place(context)
        how = {"button": button, "clickCount": count, "modifiers": _modifiers(context)}
        output = await context.in_tab("page.click", {**place, **how})
        return acted(context, f"{did} {words}", output)

    return click


async def hover(context: Context) -> CallResult:
    """Move the mouse somewhere and leave it there."""
    place, words = _place(context)
    return acted(context, f"Hovered {words}", await context.in_tab("page.hover", place))


async def drag(context: Context) -> CallResult:
    """Press at one point and let go at another."""
    given = context.arguments
    start, end = given["start_coordinate"], given["coordinate"]
    ends = {"from": viewport_point(context, start), "to": viewport_point(context, end)}
    output = await context.in_tab("page.drag", {**ends, "modifiers": _modifiers(context)})
    return acted(context, f"Dragged from {_point(start)} to {_point(end)}", output)


async def scroll(context: Context) -> CallResult:
    """Turn the wheel, and show what is in view then."""
    given = context.arguments
    place, words = _place(context)
    ticks = given.get("scroll_amount", TICKS)
    direction = given["scroll_direction"]
    how = {"direction": direction, "distance": round(ticks * TICK)}
    output = await context.in_tab("page.scroll", {**place, **how})
    did = f"Scrolled {direction} by {ticks:g} ticks {words}{_position(output['effect'])}"
    try:
        shown, picture = await viewport(context)
    except TabhubError as missed:
        # It has been done: whoever hears of an error would do it again.
        return acted(context, f"{did}. No picture: {missed.message.rstrip('.')}", output)
    result = acted(context, did, output, screenshot=shown)
    return replace(result, content=[*result.content, picture])


async def scroll_to(context: Context) -> CallResult:
    """Bring an element into view."""
    ref = context.arguments["ref"]
    output = await context.in_tab("page.scroll", {"ref": ref})
    return acted(context, f"Scrolled {ref} into view{_position(output['effect'])}", output)


def _place(context: Context) -> tuple[Json, str]:
    """What a call points at, for the browser and in words."""
    given = context.arguments
    if ("ref" in given) == ("coordinate" in given):
        raise InvalidArguments(
            f"computer: {given['action']} needs coordinate or ref, one of the two."
        )
    if "ref" in given:
        return {"ref": given["ref"]}, f"on element {given['ref']}"
    return viewport_point(context, given["coordinate"]), f"at {_point(given['coordinate'])}"


def _point(coordinate: list[float]) -> str:
    return f"({coordinate[0]:g}, {coordinate[1]:g})"


def _position(effect: Json) -> str:
    at = effect.get("position")
    if at is None:
        return ""
    stays = "" if effect["moved"] else "; it did not move"
    return f", to ({at['x']}, {at['y']}) of ({at['maxX']}, {at['maxY']}){stays}"


def _modifiers(context: Context) -> list[str]:
    held: str = context.arguments.get("modifiers", "")
    return [name.strip() for name in held.split("+") if name.strip()]


LONGEST_WAIT = 30
_STEP_SECONDS = 1.0


async def _wait(context: Context) -> CallResult:
    """Progress on the way keeps the call from being taken for a dead one."""
    seconds = left = float(context.arguments["duration"])
    while left > 0:
        step = min(_STEP_SECONDS, left)
        await asyncio.sleep(step)
        context.hub.tabs.get(context.tab.id)
        left -= step
        await context.report(seconds - left, seconds, "waiting")
    return done(f"Waited for {seconds:g} seconds.", {"tabId": context.tab.id, "waited": seconds})


_ACTIONS: dict[str, tuple[Action, tuple[str, ...]]] = {
    "left_click": (clicker("Clicked", "left", 1), ()),
    "right_click": (clicker("Right-clicked", "right", 1), ()),
    "double_click": (clicker("Double-clicked", "left", 2), ()),
    "triple_click": (clicker("Triple-clicked", "left", 3), ()),
    "type": (type_text, ("text",)),
    "screenshot": (screenshot, ()),
    "wait": (_wait, ("duration",)),
    "scroll": (scroll, ("scroll_direction",)),
    "key": (press, ("text",)),
    "left_click_drag": (drag, ("start_coordinate", "coordinate")),
    "zoom": (zoom, ("region",)),
    "scroll_to": (scroll_to, ("ref",)),
    "hover": (hover, ()),
}
"""Each with the arguments that it cannot do without."""
_SAME = {
    **dict.fromkeys(("screenshot", "zoom"), "browser_screenshot_tab"),
    **dict.fromkeys(
        ("left_click", "right_click", "double_click", "triple_click"), "browser_click_element"
    ),
    **dict.fromkeys(("scroll", "scroll_to"), "browser_scroll"),
    "hover": "browser_hover_element",
    "type": "browser_type_text",
    "key": "browser_press_key",
    "left_click_drag": "browser_drag",
}
_READING = ("screenshot", "wait", "zoom")


async def _computer(context: Context) -> CallResult:
    given = context.arguments
    act, needed = _ACTIONS[given["action"]]
    for name in needed:
        if name not in given:
            raise InvalidArguments(f"computer: {given['action']} needs {name}.")
    return await act(context)


def _changes(given: Mapping[str, Any]) -> bool:
    if "action" not in given:
        return False
    return given["action"] not in _READING or bool(given.get("save_to_disk"))


def _same_as(given: Mapping[str, Any]) -> tuple[str, ...]:
    same = _SAME.get(given.get("action", ""))
    return () if same is None else (same,)


_POINT = {key: value for key, value in COORDINATE.items() if key != "description"}
COMPUTER = browser_tool(
    name="computer",
    title="Mouse, keyboard and screen",
    description=(
        "Mouse, keyboard and screenshots, also in background tabs. Coordinates are pixels of the "
        "tab's latest screenshot. Clicks, hover and scroll take coordinate or ref; type and key go "
        "to what has the focus."
    ),
    handler=with_tabs(_computer),
    properties={
        "action": {"enum": list(_ACTIONS)},
        "coordinate": {**_POINT, "description": "[x, y]; of a drag the end."},
        "start_coordinate": _POINT,
        "ref": REF,
        "text": {
            "type": "string",
            "minLength": 1,
            "description": "To type; for key: keys or chords between spaces, as in ctrl+a Delete.",
        },
        "modifiers": {"type": "string", "description": "For clicks: ctrl+shift, alt, cmd."},
        "duration": {
            "type": "number",
            "minimum": 0,
            "maximum": LONGEST_WAIT,
            "description": "Seconds.",
        },
        "scroll_direction": {"enum": ["up", "down", "left", "right"]},
        "scroll_amount": {
            "type": "number",
            "minimum": 1,
            "maximum": 10,
            "default": TICKS,
            "description": "Ticks of 100 pixels.",
        },
        "region": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": 4,
            "maxItems": 4,
            "description": "[x0, y0, x1, y1] to zoom into.",
        },
        "repeat": {"type": "integer", "minimum": 1, "maximum": 100},
        "scale": {
            "type": "number",
            "minimum": 0.1,
            "maximum": 1,
            "description": "Of the picture; coordinates stay those of the full frame.",
        },
        "save_to_disk": {"type": "boolean"},
        "action_summary": {"type": "string"},
    },
    required=("action",),
    read_only=True,
    changes_when=_changes,
    secret_arguments=frozenset({"text"}),
    aliases={
        "direction": "scroll_direction",
        "key": "text",
        "startCoordinate": "start_coordinate",
        "endCoordinate": "coordinate",
    },
    same_as=_same_as,
    toolsets=CLAUDE,
)

TOOLS = (COMPUTER,)
