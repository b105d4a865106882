"""Errors of tools that rarely fail."""

from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.reasons import reason
from tests.support.agent import Agent
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
FRAMES = "browser_get_websocket_frames"
BODY = {"selector": "body"}


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        ("browser_drag", {"from": {"x": 1}, "to": BODY}, "invalid_arguments"),
        ("browser_drag", {"from": BODY, "to": {**BODY, "ref": "ref_1"}}, "invalid_arguments"),
        ("browser_drag", {"from": {"selector": "#none"}, "to": BODY}, "element_not_found"),
        ("browser_drag", {"from": BODY, "to": {"ref": "ref_99999"}}, "stale_ref"),
        ("browser_list_windows", {"connectionId": "nobody"}, "invalid_arguments"),
        ("browser_list_windows", {"maxTokens": 0}, "invalid_arguments"),
        (FRAMES, {"tabId": 1}, "tab_not_found"),
        (FRAMES, {"limit": 0}, "invalid_arguments"),
        ("extension_get_side_panel", {"connectionId": "nobody"}, "invalid_arguments"),
        ("extension_get_side_panel", {"open": True}, "invalid_arguments"),
    ],
)
async def test_an_impossible_call_is_refused_with_a_reason(
    agent: Agent, opened: Opener, site: Site, tool: str, arguments: dict[str, Any], word: str
) -> None:
    await opened(site.page("form"))
    assert await reason(agent, tool, **arguments) == word


async def test_a_tab_without_a_recording_has_no_frames(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(site.page("form"))
    await agent.call("browser_disable_network_capture", tabId=tab)
    assert await reason(agent, FRAMES, tabId=tab) == "not_found"
