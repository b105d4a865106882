"""What a real browser reports of a walled site reaches no agent."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.agent import Agent
from tests.support.browsers.managed import Rig, rig
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
SECRET = "s3cr3t"
CLICK = "browser_click_element"


def html(origin: str, body: str) -> str:
    return f"{origin}/html?body={quote(body)}"


def redirected(site: Site, target: str) -> str:
    return f"{site.url}/redirect?to={quote(target)}"


@pytest.fixture
async def walled(tmp_path: Path, site: Site) -> AsyncIterator[Rig]:
    forbidden = site.other.removeprefix("http://")
    config = {
        "permissions": {"domains": {forbidden: "off"}},
        "downloads": {"folder": str(tmp_path / "saved")},
    }
    async with rig(tmp_path, config) as here:
        yield here


def require_hidden(site: Site, *results: Any) -> None:
    shown = json.dumps(results)
    assert SECRET not in shown and site.other.removeprefix("http://") not in shown, shown


async def test_a_click_that_leads_to_a_walled_page_says_only_that(walled: Rig, site: Site) -> None:
    there = html(site.other, f"<title>{SECRET}</title>{SECRET}")
    dialog = html(site.other, f"<script>alert('{SECRET}')</script>")
    body = f'<a id=page href="{there}">there</a><a id=dialog href="{dialog}">ask</a>'
    async with walled.agent("robot") as agent:
        for target in ("page", "dialog"):
            tab = (await agent.call("browser_open_tab", url=html(site.url, body)))["tabId"]
            clicked = await agent.result(CLICK, selector=f"#{target}", tabId=tab)
            require_hidden(site, clicked)
            assert "walled" in clicked["content"][0]["text"]
            lists = [await agent.result(name) for name in ("browser_list_tabs", "tabs_context_mcp")]
            require_hidden(site, *lists)
            refused = await agent.result("browser_get_tab_info", tabId=tab)
            assert refused["structuredContent"]["error"]["reason"] == "permission_off"
            assert (await agent.call("browser_close_tab", tabId=tab)) == {"closed": tab}


async def test_a_redirect_to_a_walled_page_says_only_that(walled: Rig, site: Site) -> None:
    there = redirected(site, html(site.other, f"<title>{SECRET}</title>"))
    asking = redirected(site, f"{site.other}/secret?{SECRET}")
    file = redirected(site, f"{site.other}/download?{SECRET}")
    async with walled.agent("robot") as agent:
        for url in (there, asking, file):
            opened = await agent.result("browser_open_tab", url=url)
            tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
            moved = await agent.result("browser_navigate_tab", url=url, tabId=tab)
            named = await agent.result("navigate", url=url, tabId=tab)
            for result in (opened, moved, named):
                shown = json.dumps(result).replace(json.dumps(url)[1:-1], "")
                assert SECRET not in shown and "the cave" not in shown, shown


async def test_a_download_that_ends_at_a_walled_site_is_stopped(walled: Rig, site: Site) -> None:
    target = redirected(site, f"{site.other}/download?{SECRET}")
    slow = redirected(site, f"{site.other}/trickle?seconds=20&{SECRET}")
    async with walled.agent("robot") as agent:
        near = await agent.call("browser_download_file", url=f"{site.url}/download")
        folder = Path(near["path"]).parent
        before = sorted(folder.iterdir())
        for url in (target, slow):
            refused = await agent.result("browser_download_file", url=url)
            assert refused["structuredContent"]["error"]["reason"] == "permission_off"
            require_hidden(site, refused)
        listed = await agent.call("browser_list_downloads")
        assert [item["path"] for item in listed["downloads"]] == [near["path"]]
        known = await walled.cdp.in_worker("chrome.downloads.search({})")
        assert [item["filename"] for item in known] == [near["path"]]
        # The browser removes what it had begun to write a moment after it has stopped.
        await eventually(lambda: sorted(folder.iterdir()) == before)


async def test_a_download_that_a_click_starts_says_only_that(walled: Rig, site: Site) -> None:
    body = f'<a href="{redirected(site, f"{site.other}/download")}">file</a>'
    async with walled.agent("robot") as agent:
        await agent.call("browser_open_tab", url=html(site.url, body))
        clicked = await agent.call(CLICK, selector="a")
        assert clicked["effect"]["download"] == "walled"
        listed = await agent.call("browser_list_downloads", query="x.bin")
        assert listed["downloads"] == [] and listed["total"] == 0


async def test_coverage_leaves_out_sheets_of_a_walled_site(walled: Rig, site: Site) -> None:
    def sheet(origin: str, name: str) -> str:
        return f"{origin}/raw?type=text/css&hex={f'.{name} {{color: red}}'.encode().hex()}"

    urls = [sheet(site.url, "near"), sheet(site.other, SECRET)]
    urls.append(redirected(site, sheet(site.other, SECRET)))
    body = "".join(f'<link rel=stylesheet href="{url}">' for url in urls)
    async with walled.agent("robot") as agent:
        await agent.call("browser_open_tab", url=html(site.url, body))
        used = await agent.result("browser_get_css_coverage")
        assert "near" in str(used)
        assert SECRET not in str(used)


async def test_a_message_from_within_a_walled_page_does_not_name_it(
    walled: Rig, site: Site
) -> None:
    near = html(site.url, "<script>console.log('hello')</script>")
    there = html(site.other, f"<!--{SECRET}--><iframe src='{near}'></iframe>")
    body = f'<a href="{there}">there</a>'
    async with walled.agent("robot") as agent:
        tab = (await agent.call("browser_open_tab", url=html(site.url, body)))["tabId"]
        await agent.call(CLICK, selector="a", tabId=tab)
        await eventually(lambda: _has_frame(walled, near))
        await agent.call("browser_navigate_tab", url=site.page("form"), tabId=tab)
        for name in ("browser_get_console_logs", "browser_get_network_requests"):
            assert f"{site.other}/html" not in str(await agent.result(name, tabId=tab))


async def _has_frame(here: Rig, url: str) -> bool:
    code = "chrome.tabs.query({}).then((tabs) => Promise.all(tabs.map(({id}) => "
    code += "chrome.webNavigation.getAllFrames({tabId: id}))))"
    frames = await here.cdp.in_worker(code)
    return any(frame["url"] == url for tab in frames for frame in tab or [])


async def test_an_agent_can_leave_and_close_its_tab_there(walled: Rig, site: Site) -> None:
    async with walled.agent("robot") as agent:
        for close in ("browser_close_tab", "tabs_close_mcp"):
            url = redirected(site, f"{site.other}/form.html")
            tab = (await agent.call("browser_open_tab", url=url))["tabId"]
            assert await _reason(agent, "browser_read_page", tabId=tab) == "permission_off"
            assert await _reason(agent, "browser_screenshot_tab", tabId=tab) == "permission_off"
            assert (await agent.call(close, tabId=tab))["closed"] == tab


async def _reason(agent: Agent, tool: str, **arguments: Any) -> str:
    result = await agent.result(tool, **arguments)
    reason: str = result["structuredContent"]["error"]["reason"]
    return reason
