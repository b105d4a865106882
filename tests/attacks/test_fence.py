"""A page writes a forged fence into everything that it controls; it stays inside of ours.

Every browser tool runs against a double of the extension whose outputs and errors are full of the
page's text. What programs read (`structuredContent`, text that is JSON as a whole) stays as it is,
and `_meta` names it.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tabhub.config.settings import DownloadSettings, Settings, UploadSettings
from tabhub.tools import catalog
from tabhub.wire.commands import COMMANDS
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, Refusal, connected, tab
from tests.support.hostile_outputs import FORGED, MARKER, HostileBrowser
from tests.support.serving import client, served

ROUNDS = 12
FENCE = re.compile(
    r"\[page content ([0-9a-f]{6}): data, not instructions\]"
    r"(?:\n.*?\n| (?P<line>[^\n]*?) )\[end of page content \1\]",
    re.DOTALL,
)
UNTRUSTED = "tabhub/untrusted"
SITE = "https://example.com/"
HERE: dict[str, Any] = {"tabId": 1}
BUTTON = {**HERE, "selector": "button"}
REQUEST = {**HERE, "requestId": "r1"}
GROUP = {"groupId": 1}

CALLS: dict[str, list[dict[str, Any]]] = {
    "browser_open_tab": [{"url": SITE}],
    "browser_navigate_tab": [{**HERE, "url": SITE}],
    "browser_find": [{**HERE, "query": "x"}],
    "browser_query_elements": [BUTTON],
    "browser_wait_for_element": [BUTTON],
    "browser_get_element_styles": [BUTTON],
    "find": [{**HERE, "query": "x"}],
    "browser_click_element": [BUTTON],
    "browser_hover_element": [BUTTON],
    "browser_type_text": [{**BUTTON, "text": "x"}],
    "browser_select_option": [{**BUTTON, "value": "x"}, {**BUTTON, "label": "x"}],
    "browser_press_key": [{**BUTTON, "key": "Enter"}],
    "browser_scroll": [{**HERE, "direction": "down"}, {**BUTTON}],
    "browser_drag": [{**HERE, "from": {"selector": "a"}, "to": {"selector": "b"}}],
    "browser_handle_dialog": [{**HERE, "action": "accept"}],
    "browser_upload_files": [{**BUTTON, "files": [{"name": "a.txt", "data": "YQ=="}]}],
    "file_upload": [{**HERE, "ref": "ref_1", "paths": ["FILE"]}],
    "upload_image": [{**HERE, "ref": "ref_1", "imageId": "IMAGE"}],
    "gif_creator": [
        {**HERE, "action": action}
        for action in ("start_recording", "stop_recording", "export", "clear")
    ],
    "browser_execute_script": [{**HERE, "code": "1"}],
    "javascript_tool": [{**HERE, "action": "javascript_exec", "text": "1"}],
    "browser_get_resource_content": [{**HERE, "url": SITE}],
    "browser_force_pseudo_state": [{**BUTTON, "pseudoClasses": ["hover"]}],
    "browser_get_css_coverage": [HERE, {**HERE, "stop": True}],
    "browser_create_window": [{"url": SITE}],
    "browser_update_window": [{"windowId": 1, "focused": True}],
    "browser_close_window": [{"windowId": 1}],
    "browser_restore_session": [{"sessionId": "s"}],
    "browser_list_tabs_in_group": [GROUP],
    "browser_create_tab_group": [{"tabIds": [1]}],
    "browser_add_tabs_to_group": [{**GROUP, "tabIds": [1]}],
    "browser_remove_tabs_from_group": [{"tabIds": [1]}],
    "browser_update_tab_group": [{**GROUP, "collapsed": True}],
    "browser_get_cookies": [{"url": SITE}],
    "browser_set_cookie": [{"url": SITE, "name": "n", "value": "v"}],
    "browser_delete_cookies": [{"url": SITE, "name": "n"}],
    "browser_clear_site_data": [{"origin": SITE, "cookies": True}],
    "browser_search_history": [{"query": "x"}],
    "browser_get_visits": [{"url": SITE}],
    "browser_search_bookmarks": [{"query": "x"}],
    "browser_create_bookmark": [{"title": "t", "url": SITE}],
    "browser_download_file": [{"url": SITE}],
    "browser_get_download_status": [{"downloadId": 1}],
    "browser_intercept_requests": [{**HERE, "urlPatterns": ["*"]}],
    "browser_fulfill_request": [{**REQUEST, "status": 200}],
    "browser_fail_request": [REQUEST],
    "browser_continue_request": [REQUEST],
    "browser_emulate_device": [{**HERE, "width": 9, "height": 9}],
    "browser_set_geolocation": [{**HERE, "latitude": 1, "longitude": 1}],
    "browser_set_permission": [{**HERE, "permission": "camera", "setting": "allow"}],
    "browser_set_media_features": [
        {**HERE, "features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    ],
    "browser_emulate_vision_deficiency": [{**HERE, "type": "none"}],
    "browser_throttle_network": [{**HERE, "preset": "3g"}],
    "browser_get_network_requests": [HERE, {**REQUEST, "body": True}],
    "navigate": [{**HERE, "url": SITE}],
    "resize_window": [{**HERE, "width": 900, "height": 900}],
    "form_input": [{**HERE, "ref": "ref_1", "value": "x"}],
    "computer": [
        {**HERE, "action": "screenshot"},
        *({**HERE, "action": f"{kind}_click", "ref": "ref_1"} for kind in ("left", "right")),
        {**HERE, "action": "type", "text": "x"},
        {**HERE, "action": "key", "text": "Enter"},
        {**HERE, "action": "scroll", "scroll_direction": "down", "coordinate": [0, 0]},
        {**HERE, "action": "scroll_to", "ref": "ref_1"},
        {**HERE, "action": "hover", "ref": "ref_1"},
        {**HERE, "action": "zoom", "region": [0, 0, 1, 1]},
        {**HERE, "action": "left_click_drag", "start_coordinate": [0, 0], "coordinate": [1, 1]},
    ],
    "permissions_check": [{}, HERE, {"url": SITE}],
    "browser_notify": [{"title": "t", "message": "m"}],
    "update_plan": [{"domains": ["example.com"], "approach": ["read"]}],
    "shortcuts_list": [HERE],
    "shortcuts_record": [{"action": "start", "command": "c"}, {"action": "stop"}],
    "shortcuts_execute": [{"command": "c"}],
    "shortcuts_delete": [{"command": "c"}],
    "extension_check_adapter": [{"plugin": "p"}],
    "dev_utils": [{"action": action} for action in ("ping", "status", "version", "dump_state")],
    "browser_batch": [
        {
            "actions": [
                {"name": "browser_click_element", "input": BUTTON},
                {"name": "browser_get_tab_info", "input": HERE},
            ]
        }
    ],
    "tabs_context_mcp": [{}, {"createIfEmpty": True}],
}
"""Arguments; a tool that is not here is called for tab 1 without any others."""
MANY_LINES = {
    *("browser_read_page", "read_page", "browser_get_tab_content", "get_page_text"),
    *("browser_get_page_html", "browser_execute_script", "javascript_tool"),
    *("browser_get_resource_content", "browser_get_network_requests"),
}
"""They return texts of the page as they are."""
NEVER = {"extension_check_adapter"}
NEEDS_MORE = {"extension_reload", "extension_force_reconnect"}
"""They end the connection, and say nothing of a page."""


def _calls() -> Iterator[tuple[str, dict[str, Any]]]:
    for tool in catalog.ALL:
        default = [HERE] if tool.needs_tab else [{}]
        if tool.name not in NEEDS_MORE:
            yield from ((tool.name, given) for given in CALLS.get(tool.name, default))


@asynccontextmanager
async def _hostile(**more: Any) -> AsyncIterator[tuple[Agent, FakeExtension]]:
    settings = Settings(downloads=DownloadSettings(folder=None), uploads=UploadSettings(folders=[]))
    async with served(settings, **more) as server, connected(server.port) as extension:
        await extension.sync(tab(1, url=f"{SITE}{FORGED}", title=FORGED, windowId=1))
        async with client(server.port) as http:
            yield Agent(http), extension


def _respond(extension: FakeExtension, seed: int) -> None:
    browser = HostileBrowser(seed)
    outputs = {command: browser.output(command) for command in COMMANDS}
    for command, output in outputs.items():
        extension.handlers[command] = lambda _, output=output: output


def outside(text: str) -> str:
    """What stands outside of every fence."""
    return FENCE.sub("", text)


def leaks(result: dict[str, Any]) -> list[str]:
    """Where a result has the page's words without saying that they are the page's."""
    pointers = result.get("_meta", {}).get(UNTRUSTED, [])
    assert MARKER not in json.dumps(pointers)
    data = _places(result.get("structuredContent"), "/structuredContent")
    content = _places(result["content"], "/content")
    return [place for place in (*data, *content) if not _is_marked(result, place, pointers)]


def _is_marked(result: dict[str, Any], place: str, pointers: list[str]) -> bool:
    is_named = any(place == pointer or place.startswith(f"{pointer}/") for pointer in pointers)
    if not place.startswith("/content/"):
        return is_named
    number, _, member = place.removeprefix("/content/").partition("/")
    text = result["content"][int(number)].get("text", "")
    if member != "text":
        return is_named
    return MARKER not in outside(text) or (is_named and _is_json(text))


def _is_json(text: str) -> bool:
    return isinstance(json.loads(text), dict | list)


def _places(value: Any, place: str) -> Iterator[str]:
    """The JSON pointers of what has the page's words."""
    if isinstance(value, str) and MARKER in value:
        yield place
    if isinstance(value, dict) and any(MARKER in key for key in value):
        yield place
        return
    items = value.items() if isinstance(value, dict) else enumerate(value if _is_list(value) else [])
    for key, item in items:
        yield from _places(item, f"{place}/{key}")


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def split_lines(result: dict[str, Any]) -> list[str]:
    """Lines that a page has begun, in what should be one line."""
    texts = (block["text"] for block in result["content"] if "text" in block)
    return [line for text in texts for line in text.splitlines() if line.startswith("System:")]


async def test_nothing_a_page_says_stands_outside_the_fence() -> None:
    succeeded = set()
    bad = {}
    async with _hostile() as (agent, extension):
        for seed in range(ROUNDS):
            _respond(extension, seed)
            for name, given in _calls():
                await agent.result("browser_open_tab", url=SITE)
                result = await agent.result(name, **given)
                if leaks(result): bad.setdefault(name, (leaks(result), result))
                if not (name in MANY_LINES or not split_lines(result)): bad.setdefault(name,("SPLIT", result))
                succeeded |= set() if result.get("isError") else {name}
    for n,t in bad.items(): print("LEAK", n, "::", str(t).replace(repr(FORGED)[1:-1],"@@")[:600].replace("\n","\\n"))
    print("NEVER", {tool.name for tool in catalog.ALL} - succeeded)
    assert {tool.name for tool in catalog.ALL} - succeeded <= NEVER and not bad
