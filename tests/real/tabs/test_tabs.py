"""Listing, opening, closing and navigating tabs in a real browser."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.cdp import Cdp
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Value = Callable[..., Awaitable[Any]]


async def test_an_opened_tab_is_loaded_listed_and_in_the_background(
    agent: Agent, opened: Opener, site: Site
) -> None:
    result = await agent.call("browser_open_tab", url=site.page("form"))
    assert (result["url"], result["title"], result["status"]) == (
        site.page("form"),
        "Form",
        "complete",
    )
    listed = {tab["tabId"]: tab for tab in (await agent.call("browser_list_tabs"))["tabs"]}
    assert listed[result["tabId"]]["url"] == site.page("form")
    assert listed[result["tabId"]]["active"] is False
    assert isinstance(listed[result["tabId"]]["windowId"], int)
    await agent.call("browser_close_tab", tabId=result["tabId"])


async def test_a_closed_tab_is_gone_and_naming_it_is_an_error(agent: Agent, site: Site) -> None:
    tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
    assert await agent.call("browser_close_tab", tabId=tab) == {"closed": tab}
    assert tab not in {t["tabId"] for t in (await agent.call("browser_list_tabs"))["tabs"]}
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_close_tab", tabId=tab)
    assert failed.value.reason == "tab_not_found"


async def test_navigating_waits_for_the_load_and_reports_the_final_address(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(site.page("targets"))
    onward = quote("/redirect?to=/form.html")
    target = f"{site.url}/redirect?to={onward}"
    result = await agent.call("browser_navigate_tab", url=target, tabId=tab)
    assert result == {"tabId": tab, "url": site.page("form"), "title": "Form", "status": "complete"}


async def test_back_forward_and_reload_follow_the_history(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("targets"))
    await agent.call("browser_navigate_tab", url=site.page("form"))
    titles = [
        (await agent.call("browser_navigate_tab", url=step))["title"]
        for step in ("back", "forward", "reload")
    ]
    assert titles == ["Targets", "Form", "Form"]


async def test_a_jump_within_the_page_ends_at_once(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("form"))
    result = await agent.call("browser_navigate_tab", url=site.page("form") + "#mail")
    assert result["url"].endswith("#mail")


@pytest.mark.parametrize("tool", ["browser_navigate_tab", "browser_open_tab"])
async def test_an_unreachable_page_is_an_error_with_its_cause(
    agent: Agent, opened: Opener, site: Site, tool: str
) -> None:
    await opened(site.page("form"))
    before = len((await agent.call("browser_list_tabs"))["tabs"])
    with pytest.raises(ToolFailed, match="ERR_") as failed:
        await agent.call(tool, url="http://127.0.0.1:1/")
    assert failed.value.reason == "navigation_failed"
    assert len((await agent.call("browser_list_tabs"))["tabs"]) == before


@pytest.mark.parametrize("url", ["chrome://settings", "file:///etc/passwd", "javascript:1"])
async def test_the_browsers_own_pages_are_not_opened(agent: Agent, url: str) -> None:
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_open_tab", url=url)
    assert failed.value.reason == "invalid_arguments"


async def test_the_current_tab_is_the_one_last_opened_or_acted_on(
    agent: Agent, opened: Opener, by_tool: Value, site: Site
) -> None:
    first, second = await opened(site.page("form")), await opened(site.page("targets"))
    assert await by_tool("document.title") == "Targets"
    assert await by_tool("document.title", tabId=first) == "Form"
    assert await by_tool("document.title") == "Form"
    await agent.call("browser_close_tab", tabId=first)
    with pytest.raises(ToolFailed) as failed:
        await by_tool("document.title")
    assert failed.value.reason == "no_current_tab"
    assert await by_tool("document.title", tabId=second) == "Targets"


@pytest.mark.requirement("OT-04")
async def test_navigation_reports_its_progress(agent: Agent, opened: Opener, site: Site) -> None:
    await opened(site.page("form"))
    params = {
        "name": "browser_navigate_tab",
        "arguments": {"url": site.page("targets")},
        "_meta": {"progressToken": 7},
    }
    answer = await agent.post("tools/call", params)
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.text.count('"progressToken":7') >= 2


async def test_a_tab_whose_page_failed_to_load_can_be_read_and_closed(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(site.page("form"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_navigate_tab", url="http://nowhere.invalid/", tabId=tab)
    assert failed.value.reason == "navigation_failed"
    result = await agent.result("browser_execute_script", code="1", tabId=tab)
    error = result["structuredContent"].get("error", {"reason": ""})
    assert error["reason"] != "tab_url_mismatch"
    assert await agent.call("browser_close_tab", tabId=tab) == {"closed": tab}


async def test_a_blank_tab_with_a_fragment_in_its_address_is_blank(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("form"))
    await agent.call("browser_execute_script", code="window.open('about:blank#x'); 1")
    tabs = (await agent.call("browser_list_tabs"))["tabs"]
    (blank,) = [tab["tabId"] for tab in tabs if tab["url"] == "about:blank#x"]
    ran = await agent.call("browser_execute_script", code="location.href", tabId=blank)
    assert ran == {"value": "about:blank#x"}
    await agent.call("browser_close_tab", tabId=blank)


async def test_a_script_may_be_strict(agent: Agent, opened: Opener, site: Site) -> None:
    await opened(site.page("form"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_execute_script", code="'use strict'; undeclared_x = 1")
    assert "undeclared_x is not defined" in failed.value.message


async def test_a_list_follows_what_pages_and_people_do(
    agent: Agent, opened: Opener, site: Site, cdp: Cdp
) -> None:
    tab = await opened(site.page("form"))

    async def listed() -> dict[str, dict[str, Any]]:
        tabs = (await agent.call("browser_list_tabs"))["tabs"]
        return {one["url"].rpartition("/")[2]: one for one in tabs}

    assert (await listed())["form.html"]["tabId"] == tab
    page = await cdp.page_of(tab)
    await cdp.evaluate(page, "document.title = 'Renamed'; history.pushState(0, '', '?moved')")
    moved = "form.html?moved"
    await eventually(listed, until=lambda tabs: tabs.get(moved, {}).get("title") == "Renamed")
    assert not (await listed())[moved]["active"]
    await cdp.in_worker(f"chrome.tabs.update({tab}, {{active: true}}).then(() => 1)")
    await eventually(listed, until=lambda tabs: tabs[moved]["active"])
    mine = await cdp.open(site.page("targets"))
    tabs = await eventually(listed, until=lambda tabs: "targets.html" in tabs)
    assert not tabs["targets.html"]["usable"] and tabs[moved]["usable"]
    await cdp.send("Target.closeTarget", targetId=mine)
    await eventually(listed, until=lambda tabs: "targets.html" not in tabs)
