"""A rule about one tool holds for every other tool that does the same."""

from pathlib import Path
from typing import Any

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import DownloadSettings, PermissionSettings, Settings
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

REQUEST = {"requestId": "r1", "tabId": 1}
OFF: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "browser_execute_script": [
        ("browser_continue_request", {**REQUEST, "url": "https://evil.example/code.js"}),
        ("browser_fulfill_request", {**REQUEST, "status": 200, "body": "steal()"}),
        ("javascript_tool", {"action": "javascript_exec", "text": "1", "tabId": 1}),
    ],
    "browser_open_tab": [
        ("browser_create_window", {"url": "https://example.com/"}),
        ("browser_restore_session", {"sessionId": "s"}),
        ("tabs_create_mcp", {}),
        ("tabs_create", {}),
        ("tabs_context_mcp", {"createIfEmpty": True}),
    ],
    "browser_navigate_tab": [("navigate", {"url": "https://example.com/", "tabId": 1})],
    "browser_close_tab": [
        ("browser_close_window", {"windowId": 1}),
        ("tabs_close_mcp", {"tabId": 1}),
    ],
    "browser_screenshot_tab": [
        ("browser_print_pdf", {"tabId": 1}),
        ("computer", {"action": "screenshot", "tabId": 1}),
        ("computer", {"action": "zoom", "region": [0, 0, 9, 9], "tabId": 1}),
        ("computer", {"action": "scroll", "scroll_direction": "down", "tabId": 1}),
        ("gif_creator", {"action": "start_recording", "tabId": 1}),
    ],
    "browser_intercept_requests": [
        ("browser_continue_request", REQUEST),
        ("browser_fulfill_request", {**REQUEST, "status": 200}),
        ("browser_fail_request", REQUEST),
    ],
    "browser_download_file": [
        ("browser_screenshot_tab", {"filePath": "a.png", "tabId": 1}),
        ("browser_print_pdf", {"filePath": "a.pdf", "tabId": 1}),
        ("browser_export_har", {"filePath": "a.har", "tabId": 1}),
        ("gif_creator", {"action": "export", "download": True, "tabId": 1}),
    ],
}


@pytest.mark.parametrize(
    ("ruled", "tool", "arguments"),
    [(ruled, tool, arguments) for ruled, calls in OFF.items() for tool, arguments in calls],
)
async def test_a_tool_that_is_off_is_off_under_every_name(
    ruled: str, tool: str, arguments: dict[str, Any]
) -> None:
    permissions = PermissionSettings(tools={ruled: "off", tool: "auto"})
    settings = Settings(permissions=permissions, downloads=DownloadSettings(folder="/tmp"))
    async with served(settings) as server, connected(server.port) as extension:
        await extension.sync(tab(1, windowId=1))
        async with client(server.port) as http:
            result = await Agent(http).result(tool, **arguments)
    assert result["structuredContent"]["error"]["reason"] == "permission_off"
    assert ruled in result["content"][0]["text"]


CONDITION = """
[[conditions]]
tools = ["browser_open_tab"]
argument = "url"
hosts = ["example.com"]
otherwise = "off"
"""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("browser_create_window", {"url": "https://evil.example/"}),
        ("tabs_create_mcp", {"url": "https://evil.example/"}),
        ("browser_restore_session", {"sessionId": "s"}),
    ],
)
async def test_a_condition_on_opening_holds_for_every_way_to_open(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    home = Home(tmp_path / "home").create()
    home.policy.write_text(CONDITION)
    async with served(home=home) as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        async with client(server.port) as http:
            result = await Agent(http).result(tool, **arguments)
    assert result["structuredContent"]["error"]["reason"] == "permission_off"
