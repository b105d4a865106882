"""What an action has done, for the reader and for the program."""

from typing import Any

from tabhub.calls.results import done
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult

CHOOSER = "file_chooser"
LOGIN = "http_auth"
BY_SCRIPT = (
    " The debugger cannot be used in this tab, so a script made the events (untrusted): "
    "pages and the browser may ignore them. See whether it had its effect."
)
SETTLE: Json = {"type": "integer", "minimum": 0, "maximum": 10_000}
MODIFIERS: Json = {
    "type": "object",
    "properties": {name: {"type": "boolean"} for name in ("shift", "ctrl", "alt", "meta")},
}


def acted(context: Context, did: str, output: Json, **more: Any) -> CallResult:
    """The result of an action: a sentence of what was done, and its effect."""
    effect = _known(context, output["effect"])
    shown = {"tabId": context.tab.id, "effect": effect, "trusted": output["trusted"]}
    how = BY_SCRIPT if output.get("byScript") else ""
    return done(f"{did}. {_told(effect)}".rstrip() + how, {**shown, **more})


def _known(context: Context, effect: Json) -> Json:
    """An effect with our own number for a tab that was opened; one that is gone is not told."""
    if "opened" not in effect:
        return effect
    tab = context.hub.tabs.by_native(context.tab.browser, effect["opened"])
    rest = {key: value for key, value in effect.items() if key != "opened"}
    return rest if tab is None else {**rest, "opened": tab.id}


def _told(effect: Json) -> str:
    """An effect in words."""
    asides = []
    if "opened" in effect:
        asides.append(f"It opened tab {effect['opened']}.")
    if "download" in effect:
        asides.append(f"It started a download: {effect['download']!r}.")
    return " ".join([*asides, *_in_page(effect, bool(asides))])


def _in_page(effect: Json, has_asides: bool) -> list[str]:
    if dialog := effect.get("dialog"):
        return [asked_for(dialog)]
    if "navigated" in effect:
        return [f"The page went to {effect['navigated']}."]
    if "files" in effect:
        return [f"The page received {_files(effect['files'])}."]
    held = [f"It now holds {effect['value']!r}."] if "value" in effect else []
    focused = [f"The focus is now on {effect['focused']}."] if "focused" in effect else []
    if held or focused:
        return [*focused, *held]
    if effect.get("mutated"):
        return ["The page changed."]
    return [] if has_asides or "position" in effect else ["The page shows no change."]


def asked_for(dialog: Json) -> str:
    """What a page waits for, and how it is answered."""
    if dialog["type"] == CHOOSER:
        return _chooser(dialog)
    how = ' (promptText "user:password")' if dialog["type"] == LOGIN else ""
    return f"The page opened {worded(dialog)}. Answer it with browser_handle_dialog{how}."


def _files(files: list[Json]) -> str:
    return ", ".join(f"{file['name']} ({file['size']} bytes)" for file in files) or "no file"


def _chooser(dialog: Json) -> str:
    how_many = "several files" if dialog["multiple"] else "one file"
    return (
        f"The page opened a file chooser for {how_many}. Answer it with browser_upload_files "
        "without a target, or dismiss it with browser_handle_dialog."
    )


def worded(dialog: Json) -> str:
    """A dialog in words; a question before leaving has none of its own."""
    if dialog["type"] == CHOOSER:
        return "the file chooser"
    realm = f", {dialog['realm']!r}" if "realm" in dialog else ""
    message = f": {dialog['message']!r}{realm}" if dialog["message"] else ""
    return f"a dialog ({dialog['type']}){message}"


def modifiers(context: Context) -> Json:
    """The modifiers that a call gives, as the link has them."""
    given = context.arguments.get("modifiers", {})
    return {"modifiers": [name for name, held in given.items() if held]}


def given(context: Context, *names: str) -> Json:
    """Those arguments of a call that are there."""
    arguments = context.arguments
    return {name: arguments[name] for name in (*names, "settle") if name in arguments}
