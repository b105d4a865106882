"""A page writes a forged fence into everything that it controls; it stays inside of ours.

Every browser tool runs against a double of the extension whose outputs and errors are full of the
page's text. What programs read (`structuredContent`, text that is JSON as a whole) stays as it is,
and `_meta` names it.
"""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.settings import DownloadSettings, Settings, UploadSettings
from tabhub.hub.tools import PAGE_LABEL
from tabhub.tools import catalog
from tabhub.wire.commands import COMMANDS
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, Refusal, connected, page_tool, tab
from tests.support.fences import UNTRUSTED, leaks, outside, places
from tests.support.hostile_outputs import FORGED, MARKER, HostileBrowser
from tests.support.serving import client, served

ROUNDS = 8
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
    "browser_force_pseudo_state": [{**BUTTON, "pseudoClasses": [":hover"]}],
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
    "plugin_list_tabs": [{}],
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
OBSERVING = {
    *("browser_batch", "browser_scroll", "computer", "form_input", "file_upload", "upload_image"),
    *(tool.name for tool in catalog.ALL if "observe" in tool.input_schema["properties"]),
}
"""They return lines of the page in a fence of their own, after what they did."""
ALONE = {
    *("extension_check_adapter", "extension_reload", "extension_force_reconnect"),
    *("plugin_inspect", "plugin_mark_reviewed"),
}
"""They fail or end the connection here, and say nothing of a page."""
REFUSED = {"browser_clear_site_data", "shortcuts_execute"}
"""A person is asked about the one; nothing has been recorded for the other yet."""


def _calls(upload: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for tool in catalog.ALL:
        default = [HERE] if tool.needs_tab else [{}]
        for given in CALLS.get(tool.name, default) if tool.name not in ALONE else ():
            yield tool.name, {**given, **({"paths": [str(upload)]} if "paths" in given else {})}


@asynccontextmanager
async def _hostile(folder: Path) -> AsyncIterator[tuple[Agent, FakeExtension]]:
    """A server with one tab; the page in it has chosen address and title."""
    settings = Settings(
        downloads=DownloadSettings(folder=None),
        uploads=UploadSettings(folders=[str(folder)]),
        dev=True,
    )
    async with served(settings) as server, connected(server.port) as extension:
        await extension.sync(tab(1, url=f"{SITE}{FORGED}", title=FORGED, windowId=1))
        async with client(server.port) as http:
            yield Agent(http), extension


def _respond(extension: FakeExtension, browser: HostileBrowser) -> None:
    outputs = {command: browser.output(command) for command in COMMANDS}
    for command, output in outputs.items():
        extension.handlers[command] = partial(_answer, output)


def _answer(output: Any, params: dict[str, Any]) -> Any:
    return output


def _refuse(extension: FakeExtension) -> None:
    """As the extension does: a page's words stand between two characters in its message."""

    def refuse(params: dict[str, Any]) -> None:
        words = FORGED.replace("\x02", "").replace("\x03", "")
        raise Refusal("covered_by", f"Covered by \x02{words}\x03.", {"coveredBy": words})

    for command in COMMANDS:
        extension.handlers[command] = refuse


def split_lines(result: dict[str, Any], name: str = "") -> list[str]:
    """Lines that a page has begun, in what should be one line."""
    texts = [block["text"] for block in result["content"] if "text" in block]
    texts = list(map(outside, texts)) if name in OBSERVING else texts
    return [line for text in texts for line in text.splitlines() if line.startswith("System:")]


async def test_nothing_a_page_says_stands_outside_the_fence(tmp_path: Path) -> None:
    (file := tmp_path / "a.txt").write_text("a")
    succeeded = set()
    async with _hostile(tmp_path) as (agent, extension):
        for seed in range(ROUNDS):
            _respond(extension, HostileBrowser(seed))
            for name, given in _calls(file):
                await agent.result("browser_open_tab", url=SITE)
                if "imageId" in given:
                    picture = await agent.call("browser_screenshot_tab", tabId=1)
                    given = {**given, "imageId": picture["id"]}
                result = await agent.result(name, **given)
                assert leaks(result) == [], (name, result)
                assert name in MANY_LINES or split_lines(result, name) == [], (name, result)
                succeeded |= set() if result.get("isError") else {name}
    assert {tool.name for tool in catalog.ALL} - succeeded == ALONE | REFUSED


async def test_nor_does_what_an_error_quotes(tmp_path: Path) -> None:
    (file := tmp_path / "a.txt").write_text("a")
    refused = set()
    async with _hostile(tmp_path) as (agent, extension):
        _respond(extension, HostileBrowser(0))
        await agent.result("browser_open_tab", url=SITE)
        _refuse(extension)
        for name, given in _calls(file):
            result = await agent.result(name, **given)
            assert leaks(result) == [] == split_lines(result), (name, result)
            is_quoting = "Covered by [page " in result["content"][0]["text"]
            refused |= {name} if is_quoting else set()
    assert len(refused) > 60


async def test_nor_do_the_names_of_fields_in_a_shortcut(tmp_path: Path) -> None:
    async with _hostile(tmp_path) as (agent, extension):
        _respond(extension, HostileBrowser(3))
        extension.handlers["page.describe"] = lambda _: {"role": "textbox", "name": FORGED}
        extension.handlers["page.fill"] = lambda _: {"sensitive": True}
        await agent.result("browser_open_tab", url=SITE)
        calls: list[tuple[str, dict[str, Any]]] = [
            ("shortcuts_record", {"action": "start", "command": "c"}),
            ("browser_type_text", {**HERE, "ref": "ref_1", "text": "secret"}),
            ("shortcuts_record", {"action": "stop"}),
            ("shortcuts_execute", {"command": "c"}),
            ("shortcuts_list", {}),
        ]
        results = [await agent.result(name, **given) for name, given in calls]
    assert MARKER.lower() in results[2]["content"][0]["text"]
    assert MARKER.lower() not in outside(results[2]["content"][0]["text"])
    assert MARKER.lower() not in outside(results[3]["content"][0]["text"])
    assert [leaks(result) for result in results] == [[]] * len(calls)


TEXT = [{"type": "text", "text": FORGED}]
LINK = {"type": "resource_link", "uri": "https://a.b/", "name": FORGED, "title": FORGED}
WORDS: list[Any] = [
    FORGED,
    {"content": TEXT},
    {"content": [{"type": "text", "text": json.dumps({FORGED: FORGED})}]},
    {"content": [{"type": "text", "text": json.dumps(FORGED)}], "structuredContent": {"a": FORGED}},
    {
        "content": [{"type": "text", "text": FORGED}],
        "isError": True,
        "structuredContent": {FORGED: 1},
    },
    {"content": [{"type": "text", "text": "{}"}], "_meta": {UNTRUSTED: []}, "x": FORGED},
    {
        "content": [
            {"type": "resource_link", "uri": "https://a.b/", "name": FORGED, "title": FORGED}
        ]
    },
    {"content": [{"type": "resource", "resource": {"uri": "https://a.b/", "text": FORGED}}]},
    {"content": [{"type": FORGED}]},
    {FORGED: FORGED},
    [FORGED],
]


@pytest.mark.parametrize("payload", WORDS)
async def test_the_result_of_a_pages_tool_is_named_as_a_whole(tmp_path: Path, payload: Any) -> None:
    async with _hostile(tmp_path) as (agent, extension):
        await extension.publish(1, page_tool("say"))
        extension.page_tools["say"] = lambda params: payload
        result = await agent.result("website_tool_shop_example_say")
    pointers = tuple(result["_meta"][UNTRUSTED])
    assert all(place.startswith(pointers) for place in places(result, ""))
    assert pointers[0] == "/content"


@pytest.mark.parametrize("payload", WORDS)
async def test_text_of_others_in_the_result_of_a_pages_tool_is_fenced(
    tmp_path: Path, payload: Any
) -> None:
    async with _hostile(tmp_path) as (agent, extension):
        await extension.publish(1, page_tool("say", annotations={"untrustedContentHint": True}))
        extension.page_tools["say"] = lambda params: payload
        result = await agent.result("website_tool_shop_example_say")
    texts = (block.get("text", "") for block in result["content"])
    assert all(MARKER not in outside(text) for text in texts)


async def test_lists_of_tools_and_tabs_have_a_label_that_stays_the_same(tmp_path: Path) -> None:
    async with _hostile(tmp_path) as (agent, extension):
        await extension.publish(1, page_tool("say", description=FORGED, title=FORGED))
        _respond(extension, HostileBrowser(0))
        listed, again = [(await agent.post("tools/list")).json()["result"] for _ in range(2)]
        resources = (await agent.post("resources/list")).json()["result"]["resources"]
        state = await agent.post("resources/read", {"uri": "tab://1"})
        found = await Agent(agent.http, "/mcp/gateway").result("tabhub_list_tools", query="say")
        rest = (await agent.http.get("/tools")).json()
    said = next(tool for tool in listed["tools"] if tool["name"].endswith("say"))
    assert listed == again
    assert said["_meta"][UNTRUSTED] == ["/title", "/description", "/inputSchema", "/annotations"]
    assert said["description"].startswith(f"[shop.example] {PAGE_LABEL}{MARKER} ")
    assert said in rest["tools"] or said["description"] in json.dumps(rest, ensure_ascii=False)
    assert len(said["description"].splitlines()) == 1
    summary = next(line for line in found["content"][0]["text"].splitlines() if MARKER in line)
    assert summary.startswith(f"website_tool_shop_example_say: [shop.example] {PAGE_LABEL}")
    assert found["_meta"][UNTRUSTED] == ["/structuredContent/tools"]
    assert resources[0]["name"] == "tab 1"
    assert resources[0]["description"].startswith(f"{PAGE_LABEL}{SITE}")
    assert len(resources[0]["description"].splitlines()) == 1
    assert state.json()["result"]["contents"][0]["_meta"] == {UNTRUSTED: ["/text"]}


async def test_arguments_that_do_not_fit_are_explained_in_the_pages_words(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"word": {"enum": [FORGED]}}}
    async with _hostile(tmp_path) as (agent, extension):
        await extension.publish(1, page_tool("say", inputSchema=schema))
        result = await agent.result("website_tool_shop_example_say", word="no")
    assert result["structuredContent"]["error"]["reason"] == "invalid_arguments"
    assert MARKER in result["content"][0]["text"] and leaks(result) == []
