"""A frame of another extension in a page makes no tool fail without a reason."""

import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.browsers.managed import Rig, rig
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
MISSING = "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/frame.html"
MANIFEST = {
    "manifest_version": 3,
    "name": "another",
    "version": "1",
    "web_accessible_resources": [{"resources": ["frame.html"], "matches": ["<all_urls>"]}],
}
READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("browser_read_page", {}),
    ("browser_get_tab_content", {}),
    ("browser_get_page_html", {}),
    ("browser_find", {"query": "button"}),
    ("browser_query_elements", {"selector": "button"}),
    ("browser_wait_for_element", {"selector": "button"}),
    ("browser_get_element_styles", {"selector": "button"}),
    ("browser_get_storage", {}),
    ("browser_get_tab_info", {}),
)
ACTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("browser_click_element", {"selector": "button"}),
    ("browser_press_key", {"key": "Enter"}),
    ("browser_execute_script", {"code": "1"}),
    ("browser_screenshot_tab", {}),
    ("browser_list_resources", {}),
)


def id_of(folder: Path) -> str:
    """The id of an unpacked extension: its path, hashed, in letters from a to p."""
    digits = hashlib.sha256(str(folder).encode()).hexdigest()[:32]
    return "".join(chr(ord("a") + int(digit, 16)) for digit in digits)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Rig]:
    folder = tmp_path / "another"
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(MANIFEST))
    (folder / "frame.html").write_text("<button>Inside</button>")
    flags = (f"--load-extension={folder}", f"--disable-extensions-except={folder}")
    async with rig(tmp_path, {}, *(f"--browser-arg={flag}" for flag in flags)) as found:
        yield found


async def test_reading_goes_on_and_acting_needs_a_person(
    here: Rig, site: Site, tmp_path: Path
) -> None:
    theirs = f"chrome-extension://{id_of(tmp_path / 'another')}/frame.html"
    async with here.agent("robot") as agent:
        for frame in (MISSING, theirs):
            body = f"<button>Outside</button><iframe src='{frame}'></iframe>"
            await agent.call("browser_open_tab", url=f"{site.url}/html?body={quote(body)}")
            assert "Outside" in await agent.text("browser_read_page")
            for tool, arguments in READS:
                result = await agent.result(tool, **arguments)
                assert not result.get("isError"), result
                assert "Inside" not in str(result)
            for tool, arguments in ACTS:
                result = await agent.result(tool, **arguments)
                assert result["structuredContent"]["error"]["reason"] == "needs_person", result
                assert "another extension" in result["content"][0]["text"]


async def test_a_frame_that_comes_and_goes_stops_acting_only_meanwhile(
    here: Rig, site: Site
) -> None:
    body = "<button onclick='this.textContent = 1'>Outside</button>"
    async with here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=f"{site.url}/html?body={quote(body)}")
        add = "document.body.append(Object.assign(document.createElement('iframe'), {src: '%s'}))"
        wait = "await new Promise((done) => setTimeout(done, 300))"
        page = await here.cdp.page((await agent.call("browser_get_tab_info"))["url"])
        await here.cdp.evaluate(page, f"{add % MISSING}; {wait}")
        stopped = await agent.result("browser_click_element", selector="button")
        assert stopped["structuredContent"]["error"]["reason"] == "needs_person"
        await here.cdp.evaluate(page, f"document.querySelector('iframe').remove(); {wait}")
        await agent.call("browser_click_element", selector="button")
