"""The result of an action: its effect on the page, in words and as data."""

from typing import Any

from tabhub.calls.marks import quoted
from tabhub.calls.results import done
from tabhub.permissions.sites import WALLED
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult

CHOOSER = "file_chooser"
LOGIN = "http_auth"
BY_SCRIPT = (
    " The debugger cannot be used in this tab, so a script made the events (untrusted): "
    "pages and the browser may ignore them. Check whether it worked."
)
SETTLE: Json = {"type": "integer", "minimum": 0, "maximum": 10_000}
MODIFIERS: Json = {
    "type": "object",
    "properties": {name: {"type": "boolean"} for name in ("shift", "ctrl", "alt", "meta")},
}


def acted(context: Context, action: str, output: Json, **more: Any) -> CallResult:
    """The result of an action: a sentence about the action, then its effect."""
    effect = _shown(context, output["effect"])
    data = {"tabId": context.tab.id, "effect": effect, "trusted": output["trusted"]}
    note = BY_SCRIPT if output.get("byScript") else ""
    return done(f"{action}. {_effect_text(effect)}".rstrip() + note, {**data, **more})


def _shown(context: Context, effect: Json) -> Json:
    """An effect as results have it: tabhub's id of a tab that it opened, the name of a file."""
    shown = {key: value for key, value in effect.items() if key not in ("opened", "download")}
    if "opened" in effect:
        tab = context.hub.tabs.by_native(context.tab.browser, effect["opened"])
        # It may be closed already.
        shown |= {} if tab is None else {"opened": tab.id}
    if "download" in effect:
        shown["download"] = _begun_download(context, effect["download"])
    return shown


def _begun_download(context: Context, download: Json) -> str:
    """The name of a file that the page downloads, which is the client's from now on."""
    url: str = download["url"]
    if url == WALLED:
        return WALLED
    context.saved_downloads.expect(context.tab.browser, url, context.call.client.name)
    name: str = download["name"]
    return name


def _effect_text(effect: Json) -> str:
    outside = []
    if "opened" in effect:
        outside.append(f"It opened tab {effect['opened']}.")
    if "download" in effect:
        is_walled = effect["download"] == WALLED
        which = " from a walled site" if is_walled else f": {quoted(effect['download'])}"
        outside.append(f"It started a download{which}.")
    return " ".join([*outside, *_in_page(effect, bool(outside))])


def _in_page(effect: Json, has_outside: bool) -> list[str]:
    if dialog := effect.get("dialog"):
        return [dialog_sentence(dialog)]
    if "navigated" in effect:
        is_walled = effect["navigated"] == WALLED
        where = "a walled site" if is_walled else quoted(effect["navigated"])
        return [f"The page went to {where}."]
    if "files" in effect:
        return [f"The page received {_files(effect['files'])}."]
    value = [f"It now holds {quoted(effect['value'])}."] if "value" in effect else []
    focused = [f"The focus is now on {quoted(effect['focused'])}."] if "focused" in effect else []
    if value or focused:
        return [*focused, *value]
    if effect.get("mutated"):
        return ["The page changed."]
    return [] if has_outside or "position" in effect else ["The page shows no change."]


def dialog_sentence(dialog: Json) -> str:
    """Which dialog a page has opened, and how to answer it."""
    if dialog["type"] == CHOOSER:
        return _chooser_sentence(dialog)
    how = ' (promptText "user:password")' if dialog["type"] == LOGIN else ""
    return f"The page opened {dialog_name(dialog)}. Answer it with browser_handle_dialog{how}."


def _files(files: list[Json]) -> str:
    names = ", ".join(f"{file['name']} ({file['size']} bytes)" for file in files)
    return quoted(names) if names else "no file"


def _chooser_sentence(dialog: Json) -> str:
    how_many = "several files" if dialog["multiple"] else "one file"
    return (
        f"The page opened a file chooser for {how_many}. Answer it with browser_upload_files "
        "without a target, or dismiss it with browser_handle_dialog."
    )


def dialog_name(dialog: Json) -> str:
    """A dialog and its message; a leave-page question has no message."""
    if dialog["type"] == CHOOSER:
        return "the file chooser"
    words = [dialog[name] for name in ("message", "realm") if dialog.get(name)]
    whose = " of a walled site" if dialog.get("origin") == WALLED else ""
    return f"a dialog ({dialog['type']}){whose}{f': {quoted(*words)}' if words else ''}"


def modifiers(context: Context) -> Json:
    """The modifier keys of a call, as commands take them."""
    keys = context.arguments.get("modifiers", {})
    return {"modifiers": [name for name, is_held in keys.items() if is_held]}


def passed(context: Context, *names: str) -> Json:
    """The named arguments that the call has, and settle, as the input of a command."""
    arguments = context.arguments
    return {name: arguments[name] for name in (*names, "settle") if name in arguments}
