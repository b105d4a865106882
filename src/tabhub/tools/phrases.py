"""What the person is asked about each tool; `calls/approval_words.py` says how phrases are read.

A tool without a phrase is called by its title.
"""

from collections.abc import Mapping
from typing import Any

from tabhub.hub.texts import LINE_END
from tabhub.hub.tools import Phrase

_HELD = {
    "ctrl": "Ctrl",
    "control": "Ctrl",
    "alt": "Alt",
    "option": "Alt",
    "shift": "Shift",
    "meta": "Meta",
    "cmd": "Meta",
    "command": "Meta",
    "win": "Meta",
    "windows": "Meta",
}
"""What the browser takes for a modifier key, and what the person reads."""
_NAMED_KEYS = {
    "return": "Enter",
    "esc": "Escape",
    "del": "Delete",
    "left": "ArrowLeft",
    "up": "ArrowUp",
    "right": "ArrowRight",
    "down": "ArrowDown",
    **{
        key.lower(): key
        for key in """
        Enter Tab Escape Backspace Delete Insert Space Home End PageUp PageDown ContextMenu
        ArrowUp ArrowDown ArrowLeft ArrowRight F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12
        """.split()
    },
}
"""Keys that tell nothing of a password, by what the browser takes for them."""
_COUNTS = {2: "Double-click", 3: "Triple-click"}
_COMPUTER = {
    "left_click": "Click {target}",
    "right_click": "Right-click {target}",
    "double_click": "Double-click {target}",
    "triple_click": "Triple-click {target}",
    "screenshot": "Save a picture of the page",
    "zoom": "Save a picture of the page",
    "scroll": "Scroll at {target}",
    "scroll_to": "Scroll to {target}",
    "hover": "Move the mouse over {target}",
    "left_click_drag": "Drag {from} to {to}",
}


def _computer(arguments: Mapping[str, Any]) -> str:
    action = str(arguments.get("action", ""))
    if action == "type":
        text = "text with ↵" if LINE_END.search(str(arguments.get("text", ""))) else "text"
        return f"Type [{{text}} into {{target}}|{text} where the focus is]"
    if action == "key":
        keys, times = _keys(arguments, "text", []), _times(arguments.get("repeat"))
        unseen = keys.replace("{text}", "keys")
        return f"Press [{keys}{times} {{at}}|{unseen}{times} where the focus is]"
    phrase = _COMPUTER.get(action, "")
    # The other actions ignore modifiers.
    return _holding(arguments, phrase) if "click" in action else phrase


def _clicks(arguments: Mapping[str, Any]) -> str:
    button, count = arguments.get("button", "left"), arguments.get("clickCount", 1)
    if button != "left":
        phrase = f"{button.capitalize()}-click {{target}}{_times(count)}"
    else:
        phrase = f"{_COUNTS.get(count, 'Click')} {{target}}"
    return _holding(arguments, phrase)


def _presses(arguments: Mapping[str, Any]) -> str:
    keys = _keys(arguments, "key", _held(arguments))
    return f"Press {keys}{_times(arguments.get('repeat'))}[ {{at}}]"


def _keys(arguments: Mapping[str, Any], name: str, held: list[str]) -> str:
    """The keys by their names. A single letter may be one of a password; Enter is not, and is
    named even where the others are hidden or cut off."""
    chords = [_chord(chord, held) for chord in str(arguments.get(name, "")).split() or ["Space"]]
    if all(chords):
        return " ".join(chords)
    named = ", ".join(dict.fromkeys(filter(None, chords)))
    return "+".join([*held, f"{{{name}}}"]) + (f" (with {named})" if named else "")


def _chord(chord: str, held: list[str]) -> str:
    """A chord of named keys, or nothing if it has another key."""
    *modifiers, key = chord.lower().split("+")
    if key not in _NAMED_KEYS or not _HELD.keys() >= {*modifiers}:
        return ""
    return "+".join([*_ordered([*held, *(_HELD[each] for each in modifiers)]), _NAMED_KEYS[key]])


def _holding(arguments: Mapping[str, Any], phrase: str) -> str:
    held = "+".join(_held(arguments))
    return f"{held}+{phrase[:1].lower()}{phrase[1:]}" if held else phrase


def _held(arguments: Mapping[str, Any]) -> list[str]:
    """The modifier keys of a call: an object of booleans, or names between plus signs."""
    given = arguments.get("modifiers") or {}
    if isinstance(given, str):
        names = [name.strip().lower() for name in given.split("+")]
    else:
        names = [name.lower() for name, is_held in given.items() if is_held]
    return _ordered([_HELD[name] for name in names if name in _HELD])


def _ordered(keys: list[str]) -> list[str]:
    return [key for key in dict.fromkeys(_HELD.values()) if key in keys]


def _times(count: float | None) -> str:
    return f" {count:g} times" if count is not None and count > 1 else ""


def _drags(arguments: Mapping[str, Any]) -> str:
    return _holding(arguments, "Drag {from} to {to}")


def _goes(arguments: Mapping[str, Any]) -> str:
    history = {"back": "Go back", "forward": "Go forward", "reload": "Reload the page"}
    return history.get(arguments.get("url", ""), "Go to {site}")


def _answers(arguments: Mapping[str, Any]) -> str:
    verb = "Accept" if arguments.get("action") == "accept" else "Dismiss"
    return f"{verb} [{{target}}|the page's dialog][ with {{promptText}}]"


PHRASES: dict[str, Phrase] = {
    "browser_open_tab": "Open {site}",
    "browser_create_window": "Open {site} in a new window",
    "tabs_create": "Open {site}",
    "tabs_create_mcp": "Open {site}",
    "browser_navigate_tab": _goes,
    "navigate": _goes,
    "browser_close_tab": "Close the tab",
    "tabs_close_mcp": "Close the tab",
    "browser_focus_tab": "Bring the tab to the front",
    "browser_click_element": _clicks,
    "browser_hover_element": "Move the mouse over {target}",
    "browser_type_text": "Type {text} into {target}",
    "browser_select_option": "Choose[ {value}][ {label}] in {target}",
    "browser_press_key": _presses,
    "browser_scroll": "Scroll[ to {target}]",
    "browser_drag": _drags,
    "browser_handle_dialog": _answers,
    "browser_upload_files": "Upload files[ to {target}]",
    "file_upload": "Upload files[ to {target}]",
    "upload_image": "Upload a screenshot[ to {target}]",
    "form_input": "Set {target} to {value}",
    "computer": _computer,
    "browser_execute_script": "Run a script",
    "javascript_tool": "Run a script",
    "browser_get_cookies": "Read the cookies of {site}",
    "browser_set_cookie": "Set a cookie of {site}",
    "browser_delete_cookies": "Delete cookies of {site}",
    "browser_get_storage": "Read what {site} has stored",
    "browser_clear_site_data": "Delete what {site} has stored",
    "browser_set_permission": "Set the permission {permission} of {site} to {setting}",
    "browser_search_history": "Search your history",
    "browser_get_visits": "Look up your visits to {site}",
    "browser_search_bookmarks": "Search your bookmarks",
    "browser_list_bookmark_tree": "List your bookmarks",
    "browser_create_bookmark": "Add a bookmark for {site}",
    "browser_get_recently_closed": "List your closed tabs",
    "browser_restore_session": "Open a closed tab again",
    "browser_download_file": "Download a file from {site}",
    "browser_screenshot_tab": "Save a picture of the page",
    "browser_print_pdf": "Save the page as PDF",
    "browser_intercept_requests": "Hold the page's requests",
    "browser_fulfill_request": "Answer a request in place of the server",
    "browser_fail_request": "Let a request fail",
    "browser_continue_request": "Let a request go on",
    "browser_notify": "Show you a notification",
}
