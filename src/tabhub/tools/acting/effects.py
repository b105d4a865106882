"""The result of an action: its effect on the page, in words and as data."""

from typing import Any

from tabhub.calls.marks import quoted
from tabhub.calls.results import done
from tabhub.permissions.sites import WALLED
from tabhub.tools.acting.observing import (
    asked_changes,
    changes_text,
    observing,
    page_text,
    pending_text,
)
from tabhub.tools.tool import Context, Json
from tabhub.wire.mcp.messages import CallResult

CHOOSER = "file_chooser"
LOGIN = "http_auth"
BY_SCRIPT = (
    " The debugger cannot be used in this tab, so a script made the events (untrusted): "
    "pages and the browser may ignore them. Check whether it worked."
)
SETTLE: Json = {"type": "integer", "minimum": 0, "maximum": 10_000}
_TOLD_OTHERWISE = ("opened", "download", "changes", "opener")
"""Members of an effect that results have in another form."""
_NO_PAGE = "The tab shows no page now: go back, or navigate to another address."
MODIFIERS: Json = {
    "type": "object",
    "properties": {name: {"type": "boolean"} for name in ("shift", "ctrl", "alt", "meta")},
}


async def observed(context: Context, action: str, output: Json, **more: Any) -> CallResult:
    """The result of an action that may have led to another page, which it then shows."""
    return acted(context, action, output, await page_text(context, output["effect"]), **more)


def acted(context: Context, action: str, output: Json, page: str = "", **more: Any) -> CallResult:
    """The result of an action: a sentence about the action, then its effect."""
    _follow(context, output["effect"])
    effect = _shown(context, output["effect"])
    changes = asked_changes(context, output["effect"])
    data = {"tabId": context.tab.id, "effect": effect, "trusted": output["trusted"]}
    note = BY_SCRIPT if output.get("byScript") else ""
    about = _effect_text(effect, bool(changes["lines"]))
    sentence = f"{action}.{pending_text(changes)} {about}".rstrip() + note
    return done(sentence + changes_text(changes) + page, {**data, **more})


def _follow(context: Context, effect: Json) -> None:
    """Make the opener of a tab that has closed the current tab, and a download the client's."""
    if (opener := _opener(context, effect)) is not None:
        context.hub.sessions.use(context.session, opener)
    if "download" in effect and (url := effect["download"]["url"]) != WALLED:
        context.saved_downloads.expect(context.tab.browser, url, context.call.client.name)


def _shown(context: Context, effect: Json) -> Json:
    """An effect as results have it: tabhub's id of a tab that it opened, the name of a file."""
    shown = {key: value for key, value in effect.items() if key not in _TOLD_OTHERWISE}
    if "opened" in effect:
        tab = context.hub.tabs.by_native(context.tab.browser, effect["opened"])
        # It may be closed already.
        shown |= {} if tab is None else {"opened": tab.id}
    if (opener := _opener(context, effect)) is not None:
        shown["opener"] = opener
    if download := effect.get("download"):
        shown["download"] = WALLED if download["url"] == WALLED else download["name"]
    return shown


def _opener(context: Context, effect: Json) -> int | None:
    """The tab that had opened one that has closed, if the caller may use it."""
    if "opener" not in effect:
        return None
    tab = context.hub.tabs.by_native(context.tab.browser, effect["opener"])
    may_use = tab is not None and context.hub.ownership.may_use(context.session, tab)
    return tab.id if tab is not None and may_use else None


def _effect_text(effect: Json, has_lines: bool) -> str:
    outside = []
    if "opened" in effect:
        outside.append(f"It opened tab {effect['opened']}.")
    if "download" in effect:
        is_walled = effect["download"] == WALLED
        which = " from a walled site" if is_walled else f": {quoted(effect['download'])}"
        outside.append(f"It started a download{which}.")
    return " ".join([*outside, *_in_page(effect, bool(outside), has_lines)])


def _in_page(effect: Json, has_outside: bool, has_lines: bool) -> list[str]:
    if effect.get("closed"):
        opener = effect.get("opener")
        now = "" if opener is None else f"; its opener {opener} is now current"
        return [f"The tab closed{now}."]
    if dialog := effect.get("dialog"):
        return [dialog_sentence(dialog)]
    if "navigated" in effect:
        is_walled = effect["navigated"] == WALLED
        where = "a walled site" if is_walled else quoted(effect["navigated"])
        return [f"The page went to {where}."]
    if error := effect.get("unloaded"):
        return [f"It led to a page that could not be loaded: {quoted(error)}. {_NO_PAGE}"]
    if scheme := effect.get("outside"):
        return [f"The link is for another program, {quoted(scheme)}; the page stays."]
    if effect.get("leaving"):
        return ["The tab is going to another page, which is not there yet: wait for it."]
    if "files" in effect:
        return [f"The page received {_files(effect['files'])}."]
    value = [f"It now holds {quoted(effect['value'])}."] if "value" in effect else []
    if kept := effect.get("prevented"):
        value.append(f"The page kept {kept} {'key' if kept == 1 else 'keys'} from writing.")
    # The lines say it with a ref.
    is_told = "focused" not in effect or has_lines
    focused = [] if is_told else [f"The focus is now on {quoted(effect['focused'])}."]
    if value or focused:
        return [*focused, *value]
    if has_lines:
        return ["Changed:"]
    if effect.get("mutated"):
        return ["The page changed."]
    if has_outside or "position" in effect:
        return []
    return ["The page shows no change so far.", *_focus(effect)]


def _focus(effect: Json) -> list[str]:
    """Where keys went that have changed nothing."""
    if "receivedBy" not in effect:
        return []
    if not effect["receivedBy"]:
        return ["Nothing on the page had the focus."]
    return [f"The focus was on {quoted(effect['receivedBy'])}, which is no field."]


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
    """The named arguments that the call has, settle and observe, as the input of a command."""
    arguments = context.arguments
    named = {name: arguments[name] for name in (*names, "settle") if name in arguments}
    return {**named, **observing(context)}
