"""Each of the 23 tools of the claude vocabulary has a reason word when it cannot do its work."""

from typing import Any

import pytest

from tabhub.tools import catalog
from tests.real.conftest import Opener
from tests.support.agent import Agent
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("CB-10")]
NO_TAB = {"tabId": 999_999}
FAILURES: dict[str, tuple[dict[str, Any], str]] = {
    "read_page": (NO_TAB, "tab_not_found"),
    "get_page_text": (NO_TAB, "tab_not_found"),
    "find": ({"query": "a", **NO_TAB}, "tab_not_found"),
    "upload_image": ({"imageId": "no-such-image", "ref": "ref_1"}, "not_found"),
    "gif_creator": ({"action": "export", "download": True}, "not_found"),
    "javascript_tool": ({"action": "javascript_exec", "text": "throw Error('no')"}, "script_error"),
    "read_console_messages": ({"pattern": "a", **NO_TAB}, "tab_not_found"),
    "read_network_requests": (NO_TAB, "tab_not_found"),
    "tabs_context_mcp": ({"createIfEmpty": "perhaps"}, "invalid_arguments"),
    "tabs_create_mcp": ({"url": 7}, "invalid_arguments"),
    "tabs_context": ({"url": 7}, "invalid_arguments"),
    "tabs_create": ({"url": 7}, "invalid_arguments"),
    "navigate": ({"url": "http://127.0.0.1:1/"}, "navigation_failed"),
    "resize_window": ({"width": 0, "height": 0}, "invalid_arguments"),
    "form_input": ({"ref": "ref_99999", "value": "a"}, "stale_ref"),
    "computer": ({"action": "left_click"}, "invalid_arguments"),
    "permissions_check": ({"tool": "no_such_tool"}, "unknown_tool"),
    "turn_answer_start": ({"url": 7}, "invalid_arguments"),
    "turn_answer_complete": ({"url": 7}, "invalid_arguments"),
    "update_plan": ({"domains": [], "approach": []}, "invalid_arguments"),
    "shortcuts_list": ({"url": 7}, "invalid_arguments"),
    "shortcuts_execute": ({"shortcutId": "no-such-shortcut"}, "not_found"),
    "dev_utils": ({"action": "ping"}, "permission_off"),
}


def test_the_list_is_complete() -> None:
    assert FAILURES.keys() == {tool.name for tool in catalog.ALL if "sse" in tool.toolsets}


@pytest.mark.document("CB-tools-24")
@pytest.mark.parametrize("tool", FAILURES)
async def test_a_call_that_cannot_be_done_has_a_reason(
    tool: str, agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("form"))
    arguments, reason = FAILURES[tool]
    result = await agent.result(tool, **arguments)
    assert result["isError"] and result["content"][0]["text"]
    assert result["structuredContent"]["error"]["reason"] == reason
