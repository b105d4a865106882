"""History, bookmarks and closed tabs in a real browser, checked from outside."""

from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.real.reasons import reason
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import rig
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("OT-40")]
Json = dict[str, Any]
SEARCH, VISITS = "browser_search_history", "browser_get_visits"
CLOSED, RESTORE = "browser_get_recently_closed", "browser_restore_session"


async def visited(agent: Agent, query: str) -> list[Json]:
    """The browser writes its history a moment after the page has loaded."""
    found = await eventually(
        lambda: agent.call(SEARCH, query=query), until=lambda found: found["pages"]
    )
    pages: list[Json] = found["pages"]
    return pages


async def test_visited_pages_are_found_by_words_and_time(
    agent: Agent, opened: Opener, site: Site
) -> None:
    url = html(site, "<title>quokka one</title>")
    await opened(url)
    (page,) = await visited(agent, "quokka")
    assert (page["url"], page["title"], page["visitCount"]) == (url, "quokka one", 1)
    moment = page["lastVisitTime"]
    assert (await agent.call(SEARCH, query="quokka", startTime=moment))["total"] == 1
    none = await agent.call(SEARCH, query="quokka", endTime="2001-01-01")
    assert none == {"pages": [], "total": 0}
    result = await agent.call(VISITS, url=url)
    assert [visit["visitTime"] for visit in result["visits"]] == [moment]
    assert (await agent.call(VISITS, url=f"{site.url}/never"))["visits"] == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (SEARCH, {"query": "x", "startTime": "yesterday"}),
        (SEARCH, {"query": "x", "endTime": "2026-13-01"}),
        (SEARCH, {"query": "x", "startTime": "2026-02-01", "endTime": "2026-01-01"}),
        (SEARCH, {"query": "x", "maxResults": 0}),
        (VISITS, {"url": "javascript:1"}),
        ("browser_search_bookmarks", {"query": ""}),
        ("browser_create_bookmark", {"title": "t", "url": "javascript:alert(1)"}),
        ("browser_create_bookmark", {"title": "t", "url": "file:///etc/passwd"}),
        (CLOSED, {"maxResults": 26}),
    ],
)
async def test_invalid_arguments_are_named(agent: Agent, tool: str, arguments: Json) -> None:
    assert await reason(agent, tool, **arguments) == "invalid_arguments"


async def test_a_history_is_cut_to_its_budget_and_marked_as_page_content(
    agent: Agent, opened: Opener, site: Site
) -> None:
    for number in range(3):
        await opened(html(site, f"<title>numbat {number} {'long ' * 30}</title>"))
    await eventually(
        lambda: agent.call(SEARCH, query="numbat"), until=lambda found: found["total"] >= 3
    )
    result = await agent.result(SEARCH, query="numbat", maxTokens=50)
    data, text = result["structuredContent"], result["content"][0]["text"]
    assert (len(data["pages"]), data["total"]) == (1, 3)
    assert "raise maxTokens" in text and "[page " in text


async def test_bookmarks_are_created_found_and_listed(agent: Agent, cdp: Cdp, site: Site) -> None:
    folder = await cdp.in_worker("chrome.bookmarks.create({title: 'wombats'})")
    try:
        url = site.page("form")
        made = await agent.call(
            "browser_create_bookmark", title="my wombat", url=url, parentId=folder["id"]
        )
        (real,) = await cdp.in_worker(f"chrome.bookmarks.get('{made['id']}')")
        assert (real["title"], real["url"], real["parentId"]) == ("my wombat", url, folder["id"])
        found = (await agent.call("browser_search_bookmarks", query="wombat"))["bookmarks"]
        assert {bookmark["id"] for bookmark in found} == {made["id"], folder["id"]}
        (branch,) = (await agent.call("browser_list_bookmark_tree", parentId=folder["id"]))["tree"]
        assert [child["id"] for child in branch["children"]] == [made["id"]]
        tree = await agent.call("browser_list_bookmark_tree")
        assert made["id"] in str(tree["tree"])
        shallow = (await agent.call("browser_list_bookmark_tree", maxDepth=1))["tree"]
        kept = [child for top in shallow for child in top["children"]]
        assert {"id": folder["id"], "childCount": 1}.items() <= next(
            bookmark for bookmark in kept if bookmark["id"] == folder["id"]
        ).items()
    finally:
        await cdp.in_worker(f"chrome.bookmarks.removeTree('{folder['id']}')")


async def test_a_bookmark_needs_a_folder_that_exists(agent: Agent, cdp: Cdp, site: Site) -> None:
    bad = {"title": "lost", "url": site.url}
    assert await reason(agent, "browser_create_bookmark", **bad, parentId="987654") == "not_found"
    assert await reason(agent, "browser_list_bookmark_tree", parentId="987654") == "not_found"
    mark = await cdp.in_worker("chrome.bookmarks.create({title: 'x', url: 'https://x.example'})")
    here = {**bad, "parentId": mark["id"]}
    assert await reason(agent, "browser_create_bookmark", **here) == "not_found"
    await cdp.in_worker(f"chrome.bookmarks.remove('{mark['id']}')")
    assert await cdp.in_worker("chrome.bookmarks.search('lost')") == []


async def test_a_closed_tab_is_restored_in_the_background_for_the_agent_that_closed_it(
    agent: Agent, another: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, "<title>bandicoot</title>")
    tab = await opened(url)
    await agent.call("browser_navigate_tab", url=site.page("form"))
    front = await cdp.in_worker("chrome.tabs.query({active: true}).then(([tab]) => tab.id)")
    await agent.call("browser_close_tab", tabId=tab)
    mine = (await agent.call(CLOSED, maxResults=1))["sessions"][0]
    name = mine["sessionId"]
    assert mine["usable"] is True and mine["tabs"][0]["url"] == site.page("form")
    theirs = (await another.call(CLOSED))["sessions"]
    assert next(closed for closed in theirs if closed["sessionId"] == name)["usable"] is False
    assert await reason(another, RESTORE, sessionId=name) == "foreign_tab"
    back = await agent.call(RESTORE, sessionId=name)
    assert (back["url"], back["status"]) == (site.page("form"), "complete")
    assert (await agent.call("browser_get_tab_info"))["tabId"] == back["tabId"]
    assert (await agent.call("browser_navigate_tab", url="back"))["url"] == url
    now = await cdp.in_worker("chrome.tabs.query({active: true}).then(([tab]) => tab.id)")
    assert now == front
    assert await reason(another, "browser_read_page", tabId=back["tabId"]) == "foreign_tab"
    assert await reason(agent, RESTORE, sessionId=name) == "not_found"
    await agent.call("browser_close_tab", tabId=back["tabId"])


async def test_an_unknown_closed_session_is_not_found(agent: Agent) -> None:
    assert await reason(agent, RESTORE, sessionId="no such") == "not_found"


BLOCKED = {"permissions": {"domains": {"localhost": "off"}}}


async def test_history_bookmarks_and_closed_tabs_leave_out_blocked_sites(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path, BLOCKED) as here, here.agent("ann") as ann:
        target = await here.cdp.open(f"{site.other}/form.html")
        for url in (f"{site.other}/form.html", site.page("form")):
            code = f"chrome.bookmarks.create({{title: 'kept', url: '{url}'}})"
            await here.cdp.in_worker(code)
        await ann.call("browser_open_tab", url=site.page("form"))
        query = "chrome.history.search({text: 'localhost', startTime: 0})"
        await eventually(lambda: here.cdp.in_worker(query))
        await here.cdp.send("Target.closeTarget", targetId=target)
        pages = await visited(ann, "")
        assert {page["url"] for page in pages} == {site.page("form")}
        found = (await ann.call("browser_search_bookmarks", query="kept"))["bookmarks"]
        assert [bookmark["url"] for bookmark in found] == [site.page("form")]
        assert "localhost" not in str(await ann.call("browser_list_bookmark_tree"))
        assert await reason(ann, VISITS, url=site.other) == "permission_off"
        closed = "chrome.sessions.getRecentlyClosed().then(([one]) => one.tab.sessionId)"
        name = await here.cdp.in_worker(closed)
        assert (await ann.call(CLOSED))["sessions"] == []
        assert await reason(ann, RESTORE, sessionId=name) == "permission_off"
