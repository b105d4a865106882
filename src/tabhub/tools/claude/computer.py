"""One tool with the actions of a hand and an eye."""

import asyncio
from collections.abc import Mapping
from typing import Any

from tabhub.calls.results import done
from tabhub.errors import InvalidArguments
from tabhub.tools.caller_tabs import with_tabs
from tabhub.tools.claude import keyboard, pictures, pointer
from tabhub.tools.claude.pointer import Action
from tabhub.tools.frame_points import COORDINATE
from tabhub.tools.tool import CLAUDE, REF, Context, browser_tool
from tabhub.wire.mcp.messages import CallResult

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
    "left_click": (pointer.clicker("Clicked", "left", 1), ()),
    "right_click": (pointer.clicker("Right-clicked", "right", 1), ()),
    "double_click": (pointer.clicker("Double-clicked", "left", 2), ()),
    "triple_click": (pointer.clicker("Triple-clicked", "left", 3), ()),
    "type": (keyboard.type_text, ("text",)),
    "screenshot": (pictures.screenshot, ()),
    "wait": (_wait, ("duration",)),
    "scroll": (pointer.scroll, ("scroll_direction",)),
    "key": (keyboard.press, ("text",)),
    "left_click_drag": (pointer.drag, ("start_coordinate", "coordinate")),
    "zoom": (pictures.zoom, ("region",)),
    "scroll_to": (pointer.scroll_to, ("ref",)),
    "hover": (pointer.hover, ()),
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
            "default": pointer.TICKS,
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
