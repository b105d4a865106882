"""Blocked sites in frames that disguise their origin."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.browsers.managed import Rig, rig
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


def page(origin: str, body: str) -> str:
    return f"{origin}/html?body={quote(body)}"


@pytest.fixture
async def blocked(tmp_path: Path, site: Site) -> AsyncIterator[Rig]:
    forbidden = site.other.removeprefix("http://")
    async with rig(tmp_path, {"permissions": {"domains": {forbidden: "off"}}}) as here:
        yield here


async def test_a_blocked_site_in_a_sandboxed_frame_is_blocked(blocked: Rig, site: Site) -> None:
    # Code passed as text has no address.
    script = "setTimeout(\"console.log('hid' + 'den word')\")"
    inner = page(site.other, f"<button id=b>hidden</button><script>{script}</script>")
    plain = "<iframe sandbox='allow-scripts' srcdoc='<p>shown</p>'></iframe>"
    body = f'<h1>outside</h1>{plain}<iframe sandbox="allow-scripts" src="{inner}"></iframe>'
    async with blocked.agent("robot") as agent:
        await agent.call("browser_open_tab", url=page(site.url, body))
        text = await agent.text("browser_read_page")
        assert "outside" in text and "shown" in text and "hidden" not in text
        click = await agent.result("browser_click_element", selector="#b")
        assert click["structuredContent"]["error"]["reason"] == "element_not_found"
        shot = await agent.result("browser_screenshot_tab")
        assert shot["structuredContent"]["error"]["reason"] == "permission_off"
        assert "hidden word" not in await agent.text("browser_get_console_logs")
        listed = (await agent.call("browser_list_resources"))["resources"]
        assert listed and not any(request["url"].startswith(site.other) for request in listed)


async def test_keys_stop_when_the_focus_moves_to_a_blocked_frame(blocked: Rig, site: Site) -> None:
    listening = "<script>addEventListener('keydown', () => parent.postMessage('key', '*'))</script>"
    inner = page(site.other, f"<input>{listening}")
    script = "got = 0; onmessage = () => got++; i.onkeydown = () => f.focus()"
    body = f'<iframe id=f src="{inner}"></iframe><input id=i><script>{script}</script>'
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("computer", {"action": "key", "text": "x Tab Enter y"}),
        ("computer", {"action": "type", "text": "xyz"}),
        ("browser_press_key", {"key": "x y z"}),
    )
    async with blocked.agent("robot") as agent:
        tab = (await agent.call("browser_open_tab", url=page(site.url, body)))["tabId"]
        for tool, arguments in calls:
            await agent.call("browser_execute_script", code="i.focus(); 1")
            result = await agent.result(tool, tabId=tab, **arguments)
            assert "navigated_away" in str(result)
            content = await agent.call("browser_execute_script", code="got")
            assert content["value"] == 0


async def test_no_picture_shows_a_blocked_frame_that_is_added_while_it_is_taken(
    blocked: Rig, site: Site
) -> None:
    body = "<div id=o></div><div style='height: 40000px'></div>"
    # The first piece of a long picture is drawn without scrollbars, which the page can see.
    code = (
        f"addEventListener('resize', () => {{ o.innerHTML = "
        f"'<iframe src={site.other}/form.html></iframe>' }}, {{once: true}}); 1"
    )
    async with blocked.agent("robot") as agent:
        await agent.call("browser_open_tab", url=page(site.url, body))
        await agent.call("browser_execute_script", code=code)
        result = await agent.result("browser_screenshot_tab", fullPage=True)
        content = await agent.call("browser_execute_script", code="o.innerHTML")
        assert "iframe" in content["value"]
        assert result["structuredContent"]["error"]["reason"] == "permission_off"
