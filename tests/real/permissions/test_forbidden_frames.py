"""Frames of a site where a tool is not allowed: no result contains their content."""

from pathlib import Path
from typing import Any

import pytest

from tests.real.cancelling import press_cancel
from tests.real.reasons import reason
from tests.support.agent import ToolFailed
from tests.support.browsers.managed import rig
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


async def test_no_reading_tool_shows_a_frame_of_a_forbidden_site(
    tmp_path: Path, site: Site
) -> None:
    forbidden = site.other.removeprefix("http://")
    config = {"permissions": {"domains": {forbidden: "off"}}}
    async with rig(tmp_path, config) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("frames"))
        calls: tuple[tuple[str, dict[str, Any]], ...] = (
            ("browser_read_page", {}),
            ("browser_get_tab_content", {}),
            ("browser_get_page_html", {}),
            ("get_page_text", {}),
            ("browser_find", {"query": "press"}),
            ("browser_query_elements", {"selector": "button"}),
        )
        for tool, arguments in calls:
            text = str(await agent.result(tool, **arguments))
            assert "Press near" in text
            assert "Press far" not in text
        selector = "[aria-label='field far']"
        with pytest.raises(ToolFailed) as failed:
            await agent.call("browser_wait_for_element", selector=selector, timeout=300)
        assert failed.value.reason == "timeout"
        with pytest.raises(ToolFailed) as failed:
            await agent.call("browser_get_element_styles", selector=selector)
        assert failed.value.reason == "element_not_found"


async def test_a_delta_leaves_out_a_frame_that_was_forbidden_after_the_first_read(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=site.page("frames"))
        first = await agent.result("browser_read_page")
        assert "Press far" in str(first)
        forbidden = site.other.removeprefix("http://")
        here.product.run("permissions", "set", forbidden, "off")
        later = await agent.result("browser_read_page", since=first["structuredContent"]["read"])
        assert "Press near" in str(later)
        assert "Press far" not in str(later)


async def test_actions_by_script_do_not_reach_such_frames_either(
    tmp_path: Path, site: Site
) -> None:
    forbidden = site.other.removeprefix("http://")
    config = {"permissions": {"domains": {forbidden: "off"}}, "untrustedInput": True}
    async with rig(tmp_path, config) as here, here.agent("robot") as agent:
        tab = (await agent.call("browser_open_tab", url=site.page("frames")))["tabId"]
        await agent.call("browser_execute_script", code="1")
        await press_cancel(here.cdp, tab)
        result = await agent.call(
            "browser_type_text", selector="[aria-label='field near']", text="a"
        )
        assert result["trusted"] is False
        far = "[aria-label='field far']"
        why = await reason(agent, "browser_type_text", selector=far, text="a")
        assert why == "element_not_found"
        frame = await here.cdp.page(f"{site.other}/inner.html?name=far&deep=1")
        await here.cdp.evaluate(frame, "document.querySelector('input').focus()")
        assert await reason(agent, "browser_press_key", key="a") == "permission_off"
        assert await here.cdp.evaluate(frame, "document.querySelector('input').value") == ""
