"""The keyboard: text and keys, to what has the focus."""

from tabhub.errors import InvalidArguments
from tabhub.tools.acting.effects import acted
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult

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
