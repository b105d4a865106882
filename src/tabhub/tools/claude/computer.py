"""The tool "computer": mouse, keyboard and screenshots, in one tool with many actions."""

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
from tabhub.tools.capture.screenshots import screenshot_of
from tabhub.tools.files import save
from tabhub.tools.reports import counted, with_tabs
from tabhub.tools.state import Frame
from tabhub.tools.tool import CLAUDE, COORDINATE, REF, Context, Json, browser_tool, writing
from tabhub.wire.abilities import Ability
from tabhub.wire.mcp.messages import CallResult, image, text

LONGEST_SIDE = 1568
MAX_ZOOM = 4
TICK_PIXELS = 100
DEFAULT_TICKS = 3
MAX_WAIT_SECONDS = 30
_REPORT_SECONDS = 1.0
_ZOOM_MODIFIERS = {"ctrl", "control", "cmd", "command", "meta", "win", "windows"}
_ZOOM_KEYS = {"=", "-", "_", "0", "plus", "minus", ""}
"""A chord that ends with the plus key ends with an empty text once it is split at plus signs."""

Action = Callable[[Context], Awaitable[CallResult]]


async def _type(context: Context) -> CallResult:
    output = await context.in_tab("page.type", {"text": context.arguments["text"]})
    return _typed(context, "Typed {}", output)


async def _press(context: Context) -> CallResult:
    keys, repeat = context.arguments["text"], context.arguments.get("repeat", 1)
    for chord in keys.split():
        _refuse_zoom(chord)
    output = await context.in_tab("page.press", {"key": keys, "repeat": repeat})
    count = max(len(keys.split()), 1) * repeat
    return _typed(context, f"Pressed {counted(count, 'key')}: {{}}", output)


def _refuse_zoom(chord: str) -> None:
    *modifiers, key = chord.lower().split("+")
    if _ZOOM_MODIFIERS.intersection(modifiers) and key in _ZOOM_KEYS:
        raise InvalidArguments(
            f"{chord} would zoom the page, which is not supported. The action zoom shows a part "
            "of a screenshot larger."
        )


def _typed(context: Context, action: str, output: Json) -> CallResult:
    """Repeat what was typed, unless it went into a sensitive field."""
    if output["sensitive"] is False:
        context.call.secrets.clear()
        return acted(context, action.format(repr(context.arguments["text"])), output)
    return acted(context, action.format("••••••"), output)


async def _screenshot(context: Context) -> CallResult:
    """Capture the viewport. Coordinates are those of the full size, also if it is scaled down."""
    path = _path(context)
    scale = context.arguments.get("scale", 1)
    output = await _capture_viewport(context, {"scale": scale})
    frame = _frame(output, scale)
    data, picture = _keep(context, output, frame)
    size = f"{frame.width}x{frame.height}"
    note = f", shown at {scale:g}; coordinates are those of the full {size}" if scale != 1 else ""
    sentence = f"Screenshot captured ({_size(output)}, jpeg) - ID: {data['id']}{note}."
    data["frame"] = {"width": frame.width, "height": frame.height}
    return _picture_result(sentence, picture, data, path)


async def _zoom(context: Context) -> CallResult:
    """Capture a part of the latest screenshot, magnified; coordinates keep their meaning."""
    path = _path(context)
    corners = context.arguments["region"]
    input = context.frame.region(corners)
    longest = max(input["region"]["width"], input["region"]["height"])
    scale = min(LONGEST_SIDE / longest, MAX_ZOOM) * context.arguments.get("scale", 1)
    output = await context.in_tab("page.capture", {**input, "scale": scale})
    data, picture = _keep(context, output, None)
    region = ", ".join(f"{value:g}" for value in corners)
    sentence = f"Zoomed into [{region}] ({_size(output)}, jpeg) - ID: {data['id']}."
    return _picture_result(sentence, picture, data, path)


async def _capture_viewport(context: Context, input: Json) -> Json:
    output: Json = await context.in_tab("page.capture", {"maxSide": LONGEST_SIDE, **input})
    return output


def _frame(output: Json, scale: float) -> Frame:
    region, full = output["region"], output["scale"] / scale
    viewport = {"width": region["width"], "height": region["height"]}
    return Frame(round(region["width"] * full), round(region["height"] * full), viewport)


def _keep(context: Context, output: Json, frame: Frame | None) -> tuple[Json, Json]:
    """Keep a screenshot; returns its data and the content block that shows it."""
    id = context.screenshots.keep(screenshot_of(context, output, frame))
    rest = {key: value for key, value in output.items() if key != "data"}
    picture = image(output["data"], output["mimeType"])
    return {"tabId": context.tab.id, "id": id, **rest}, picture


def _size(output: Json) -> str:
    return f"{output['width']}x{output['height']}"


def _path(context: Context) -> Path | None:
    """Where to save the picture, if the call asks for it; checked before anything is done."""
    if not context.arguments.get("save_to_disk"):
        return None
    return context.place_file(f"screenshot-{secrets.token_hex(4)}.jpg", (".jpg",))


def _picture_result(sentence: str, picture: Json, data: Json, path: Path | None) -> CallResult:
    if path is not None:
        save(path, b64decode(picture["data"]))
        sentence, data = f"{sentence} Saved as {path}.", {**data, "path": str(path)}
    return CallResult(content=[text(sentence), picture], structured_content=data)


def _clicker(verb: str, button: str, count: int) -> Action:
    async def click(context: Context) -> CallResult:
        target, where = _target(context)
        options = {"button": button, "clickCount": count, "modifiers": _modifiers(context)}
        output = await context.in_tab("page.click", {**target, **options})
        return acted(context, f"{verb} {where}", output)

    return click


async def _hover(context: Context) -> CallResult:
    target, where = _target(context)
    return acted(context, f"Hovered {where}", await context.in_tab("page.hover", target))


async def _drag(context: Context) -> CallResult:
    start, end = context.arguments["start_coordinate"], context.arguments["coordinate"]
    ends = {"from": context.frame.place(start), "to": context.frame.place(end)}
    output = await context.in_tab("page.drag", {**ends, "modifiers": _modifiers(context)})
    return acted(context, f"Dragged from {_point(start)} to {_point(end)}", output)


async def _scroll(context: Context) -> CallResult:
    """Scroll, and show the viewport after it."""
    target, where = _target(context)
    ticks = context.arguments.get("scroll_amount", DEFAULT_TICKS)
    direction = context.arguments["scroll_direction"]
    input = {**target, "direction": direction, "distance": round(ticks * TICK_PIXELS)}
    output = await context.in_tab("page.scroll", input)
    position = _position(output["effect"])
    action = f"Scrolled {direction} by {ticks:g} ticks {where}{position}"
    try:
        captured = await _capture_viewport(context, {})
    except TabhubError as error:
        # The page has scrolled: after an error the agent would scroll again.
        return acted(context, f"{action}. No picture: {error.message.rstrip('.')}", output)
    data, picture = _keep(context, captured, _frame(captured, 1))
    result = acted(context, action, output, screenshot=data)
    return replace(result, content=[*result.content, picture])


async def _scroll_to(context: Context) -> CallResult:
    ref = context.arguments["ref"]
    output = await context.in_tab("page.scroll", {"ref": ref})
    return acted(context, f"Scrolled {ref} into view{_position(output['effect'])}", output)


def _target(context: Context) -> tuple[Json, str]:
    """What a call points at: as the input of a command, and in words."""
    arguments = context.arguments
    if ("ref" in arguments) == ("coordinate" in arguments):
        raise InvalidArguments(
            f"computer: {arguments['action']} needs coordinate or ref, one of the two."
        )
    if "ref" in arguments:
        return {"ref": arguments["ref"]}, f"on element {arguments['ref']}"
    coordinate = arguments["coordinate"]
    return context.frame.place(coordinate), f"at {_point(coordinate)}"


def _point(coordinate: list[float]) -> str:
    return f"({coordinate[0]:g}, {coordinate[1]:g})"


def _position(effect: Json) -> str:
    at = effect.get("position")
    if at is None:
        return ""
    stays = "" if effect["moved"] else "; it did not move"
    return f", to ({at['x']}, {at['y']}) of ({at['maxX']}, {at['maxY']}){stays}"


def _modifiers(context: Context) -> list[str]:
    names: str = context.arguments.get("modifiers", "")
    return [name.strip() for name in names.split("+") if name.strip()]


async def _wait(context: Context) -> CallResult:
    """Wait, and report progress, which extends the call's time limit."""
    seconds = left = float(context.arguments["duration"])
    while left > 0:
        step = min(_REPORT_SECONDS, left)
        await asyncio.sleep(step)
        context.hub.tabs.get(context.tab.id)  # raises if the tab was closed
        left -= step
        await context.report(seconds - left, seconds, "waiting")
    return done(f"Waited for {seconds:g} seconds.", {"tabId": context.tab.id, "waited": seconds})


_ACTIONS: dict[str, tuple[Action, tuple[str, ...]]] = {
    "left_click": (_clicker("Clicked", "left", 1), ()),
    "right_click": (_clicker("Right-clicked", "right", 1), ()),
    "double_click": (_clicker("Double-clicked", "left", 2), ()),
    "triple_click": (_clicker("Triple-clicked", "left", 3), ()),
    "type": (_type, ("text",)),
    "screenshot": (_screenshot, ()),
    "wait": (_wait, ("duration",)),
    "scroll": (_scroll, ("scroll_direction",)),
    "key": (_press, ("text",)),
    "left_click_drag": (_drag, ("start_coordinate", "coordinate")),
    "zoom": (_zoom, ("region",)),
    "scroll_to": (_scroll_to, ("ref",)),
    "hover": (_hover, ()),
}
"""Each action with the arguments that it requires."""
_SAME_AS = {
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
_MINOR = ("scroll", "scroll_to", "hover")
_WITH_PICTURE = ("screenshot", "zoom", "scroll")


async def _computer(context: Context) -> CallResult:
    arguments = context.arguments
    run, required = _ACTIONS[arguments["action"]]
    for name in required:
        if name not in arguments:
            raise InvalidArguments(f"computer: {arguments['action']} needs {name}.")
    return await run(context)


def _changes(arguments: Mapping[str, Any]) -> bool:
    if "action" not in arguments:
        return False
    return arguments["action"] not in _READING or _saves(arguments)


def _saves(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments.get("save_to_disk"))


def _same_as(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    same = _SAME_AS.get(arguments.get("action", ""))
    return () if same is None else (same,)


def _abilities(arguments: Mapping[str, Any]) -> tuple[Ability, ...]:
    if arguments.get("action") not in _WITH_PICTURE:
        return ()
    return (Ability.CAPTURE, *writing(arguments, "save_to_disk"))


_POINT: Json = {key: value for key, value in COORDINATE.items() if key != "description"}

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
            "maximum": MAX_WAIT_SECONDS,
            "description": "Seconds.",
        },
        "scroll_direction": {"enum": ["up", "down", "left", "right"]},
        "scroll_amount": {
            "type": "number",
            "minimum": 1,
            "maximum": 10,
            "default": DEFAULT_TICKS,
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
            "description": "Of the picture; coordinates stay those at full size.",
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
    does=_abilities,
    minor=lambda arguments: arguments.get("action") in _MINOR and not _saves(arguments),
)

TOOLS = (COMPUTER,)
