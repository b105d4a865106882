"""What the person is asked about each tool; `calls/approval_words.py` says how phrases are read.

A tool without a phrase is called by its title.
"""

from collections.abc import Mapping
from typing import Any

from tabhub.hub.tools import Phrase

_NAMED_KEYS = frozenset(
    """
    Enter Tab Escape Backspace Delete Space Home End PageUp PageDown
    ArrowUp ArrowDown ArrowLeft ArrowRight
    """.split()
)
_COMPUTER = {
    "left_click": "Click {target}",
    "right_click": "Right-click {target}",
    "double_click": "Double-click {target}",
    "triple_click": "Triple-click {target}",
    "type": "Type [{text} into {target}|text where the focus is]",
    "screenshot": "Save a picture of the page",
    "zoom": "Save a picture of the page",
    "scroll": "Scroll at {target}",
    "scroll_to": "Scroll to {target}",
    "hover": "Move the mouse over {target}",
    "left_click_drag": "Drag {from} to {to}",
}


def _computer(arguments: Mapping[str, Any]) -> str:
    if arguments.get("action") == "key":
        return f"Press [{_keys(arguments, 'text')} {{at}}|keys where the focus is]"
    return _COMPUTER.get(arguments.get("action", ""), "")


def _clicks(arguments: Mapping[str, Any]) -> str:
    if arguments.get("button", "left") != "left":
        return f"{arguments['button'].capitalize()}-click {{target}}"
    count = arguments.get("clickCount", 1)
    return {2: "Double-click {target}", 3: "Triple-click {target}"}.get(count, "Click {target}")


def _presses(arguments: Mapping[str, Any]) -> str:
    return f"Press {_keys(arguments, 'key')}[ {{at}}]"


def _keys(arguments: Mapping[str, Any], name: str) -> str:
    """A single letter may be one of a password; Enter is not."""
    keys = str(arguments.get(name, ""))
    return keys if keys in _NAMED_KEYS else f"{{{name}}}"


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
    "browser_drag": "Drag {from} to {to}",
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
