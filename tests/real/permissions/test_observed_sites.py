"""What results of actions say about changes is what the caller's own read may show, no more."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.browsers.managed import rig
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
OWN = "document.getElementById('own').textContent = 'changed outside'"
INNER = "<button id=go onclick=\"this.nextSibling.textContent = 'changed inside'\">Go</button><p>"


def page(site: Site) -> str:
    """A page with a frame of the other site, and a link to it."""
    inner = f"{site.other}/html?body={quote(INNER)}"
    body = (
        f'<button id=own onclick="{OWN}">Own</button><iframe src="{inner}"></iframe>'
        f'<a id=away href="{site.other}/form.html">away</a>'
    )
    return f"{site.url}/html?body={quote(body)}"


def told(result: dict[str, Any]) -> str:
    assert not result.get("isError"), result
    text: str = result["content"][0]["text"]
    return text


@pytest.mark.parametrize("level", ["off", "ask"])
async def test_where_reading_is_not_allowed_actions_say_nothing_of_the_page(
    tmp_path: Path, site: Site, level: str
) -> None:
    tools = {"browser_read_page": level, "read_page": level}
    async with rig(tmp_path, {"permissions": {"tools": tools}}) as here, here.agent("a") as agent:
        opened = await agent.result("browser_open_tab", url=page(site))
        assert 'button "Own"' not in told(opened)
        clicked = told(await agent.result("browser_click_element", selector="#own"))
        assert "Clicked #own. The page changed." in clicked
        assert "changed outside" not in clicked
        again = await agent.result("browser_navigate_tab", url=page(site), observe="page")
        assert 'button "Own"' not in told(again)


async def test_frames_and_pages_of_sites_that_may_not_be_read_are_not_told(
    tmp_path: Path, site: Site
) -> None:
    other = site.other.removeprefix("http://")
    rules = {"tools": {"browser_click_element": "auto"}, "domains": {other: "ask"}}
    async with rig(tmp_path, {"permissions": rules}) as here, here.agent("a") as agent:
        await agent.result("browser_open_tab", url=page(site))
        own = told(await agent.result("browser_click_element", selector="#own"))
        assert "changed outside" in own
        inside = told(await agent.result("browser_click_element", selector="#go"))
        assert "The page changed." in inside
        assert "changed inside" not in inside
        away = told(await agent.result("browser_click_element", selector="#away"))
        assert "The page went to" in away
        assert "textbox" not in away


async def test_a_click_that_leads_to_a_closed_site_shows_nothing_of_it(
    tmp_path: Path, site: Site
) -> None:
    rules = {"domains": {site.other.removeprefix("http://"): "off"}}
    async with rig(tmp_path, {"permissions": rules}) as here, here.agent("a") as agent:
        await agent.result("browser_open_tab", url=page(site))
        away = told(await agent.result("browser_click_element", selector="#away"))
        assert "walled" in away
        assert "textbox" not in away
