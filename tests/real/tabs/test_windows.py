"""Windows and tab groups in a real browser, and their owners."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.reasons import reason
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
SIZES = "[outerWidth, outerHeight, innerWidth, innerHeight]"
Json = dict[str, Any]
Maker = Callable[..., Awaitable[Json]]


@pytest.fixture
async def window(agent: Agent) -> AsyncIterator[Maker]:
    """Creates windows, and closes them after the test."""
    made: list[int] = []

    async def create(**arguments: Any) -> Json:
        created = await agent.call("browser_create_window", **arguments)
        made.append(created["windowId"])
        return created

    yield create
    for id in made:
        await agent.result("browser_close_window", windowId=id)


async def windows(agent: Agent) -> dict[int, Json]:
    listed = (await agent.call("browser_list_windows"))["windows"]
    return {entry["windowId"]: entry for entry in listed}


async def test_a_new_window_has_the_page_the_size_and_a_tab_that_the_caller_owns(
    agent: Agent, window: Maker, cdp: Cdp, site: Site
) -> None:
    created = await window(url=site.page("targets"), width=640, height=480)
    page = await cdp.page(site.page("targets"))
    assert await cdp.evaluate(page, "[outerWidth, outerHeight]") == [640, 480]
    assert (created["url"], created["title"], created["status"]) == (
        site.page("targets"),
        "Targets",
        "complete",
    )
    listed = (await windows(agent))[created["windowId"]]
    assert (listed["tabIds"], listed["usable"], listed["width"]) == ([created["tabId"]], True, 640)
    value = await agent.call("browser_execute_script", code="document.title")
    assert value == {"value": "Targets"}


async def test_every_resize_takes_effect_and_reports_both_sizes(
    agent: Agent, window: Maker, cdp: Cdp, site: Site
) -> None:
    """Defect 11: in other products the first one may do nothing, and the two sizes are confused."""
    created = await window(url=site.page("shadow"), width=500, height=400)
    page = await cdp.page(site.page("shadow"))
    for width, height in ((700, 500), (520, 430), (701, 501)):
        result = await agent.call(
            "browser_update_window", windowId=created["windowId"], width=width, height=height
        )
        seen = await cdp.evaluate(page, SIZES)
        assert seen[:2] == [width, height] == [result["width"], result["height"]]
        assert seen[2:] == [result["viewport"]["width"], result["viewport"]["height"]]
    for state in ("maximized", "normal"):
        result = await agent.call(
            "browser_update_window", windowId=created["windowId"], state=state
        )
        assert result["state"] == (await windows(agent))[created["windowId"]]["state"] == state
    await agent.call("browser_update_window", windowId=created["windowId"], state="maximized")
    await agent.call("browser_update_window", windowId=created["windowId"], width=610, left=30)
    assert (await cdp.evaluate(page, SIZES))[0] == 610


async def test_a_window_closes_though_its_pages_ask_to_stay(
    agent: Agent, window: Maker, site: Site
) -> None:
    created = await window(url=site.page("form"))
    code = "addEventListener('beforeunload', (event) => event.preventDefault()); 1"
    await agent.call("browser_execute_script", code=code)
    await agent.call("browser_type_text", selector="[name=mail]", text="x")
    id = created["windowId"]
    assert await agent.call("browser_close_window", windowId=id) == {"closed": id}
    assert id not in await windows(agent)
    assert created["tabId"] not in [
        tab["tabId"] for tab in (await agent.call("browser_list_tabs"))["tabs"]
    ]
    assert await reason(agent, "browser_close_window", windowId=id) == "not_found"


async def test_a_window_with_a_foreign_tab_cannot_be_changed(
    agent: Agent, another: Agent, window: Maker, opened: Opener, site: Site
) -> None:
    tab = await opened(site.page("form"))
    created = await window(url=site.page("targets"))
    info = await agent.call("browser_get_tab_info", tabId=tab)
    persons = info["windowId"]
    assert (await windows(agent))[persons]["usable"] is False
    assert await reason(agent, "browser_close_window", windowId=persons) == "foreign_tab"
    for tool, more in (("browser_update_window", {"width": 300}), ("browser_close_window", {})):
        assert await reason(another, tool, windowId=created["windowId"], **more) == "foreign_tab"
    assert created["windowId"] in await windows(agent)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"state": "maximized", "width": 500}, "invalid_arguments"),
        ({"left": 1_000_000, "width": 300}, "invalid_arguments"),
        ({"url": "chrome://settings"}, "invalid_arguments"),
        ({"url": "http://127.0.0.1:1/"}, "navigation_failed"),
        ({"incognito": True}, "needs_person"),
        ({"width": 0}, "invalid_arguments"),
        ({"connectionId": "nobody"}, "invalid_arguments"),
    ],
)
async def test_an_impossible_window_is_refused_and_none_is_left_open(
    agent: Agent, arguments: Json, word: str
) -> None:
    before = set(await windows(agent))
    assert await reason(agent, "browser_create_window", **arguments) == word
    assert set(await windows(agent)) == before


async def test_a_tab_is_brought_to_the_front_only_when_asked(
    agent: Agent, another: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    tab = await opened(site.page("frames"))
    page = await cdp.page(site.page("frames"))
    assert (await agent.call("browser_get_tab_info"))["active"] is False
    result = await agent.call("browser_focus_tab")
    assert result == {
        "tabId": tab,
        "url": site.page("frames"),
        "title": "Frames",
        "status": "complete",
    }
    assert await cdp.evaluate(page, "document.visibilityState") == "visible"
    info = await agent.call("browser_get_tab_info", tabId=tab)
    assert (info["active"], info["url"], info["usable"]) == (True, site.page("frames"), True)
    for tool in ("browser_focus_tab", "browser_get_tab_info"):
        assert await reason(another, tool, tabId=tab) == "foreign_tab"
        assert await reason(agent, tool, tabId=1) == "tab_not_found"


async def groups_of_browser(cdp: Cdp) -> dict[int, Json]:
    code = "chrome.tabGroups.query({})"
    found = await cdp.in_worker(code)
    return {group["id"]: group for group in found}


async def test_tab_groups_are_created_filled_changed_and_emptied(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    first, second = await opened(site.page("form")), await opened(site.page("targets"))
    made = await agent.call(
        "browser_create_tab_group", tabIds=[first], title="Work", color="purple"
    )
    id = made["groupId"]
    real = (await groups_of_browser(cdp))[id]
    assert (real["title"], real["color"], made["tabIds"]) == ("Work", "purple", [first])
    added = await agent.call("browser_add_tabs_to_group", groupId=id, tabIds=[second])
    assert {*added["tabIds"]} == {first, second}
    tabs = (await agent.call("browser_list_tabs_in_group", groupId=id))["tabs"]
    assert {tab["title"] for tab in tabs} == {"Form", "Targets"}
    await agent.call("browser_update_tab_group", groupId=id, title="Done", collapsed=True)
    real = (await groups_of_browser(cdp))[id]
    assert (real["title"], real["color"], real["collapsed"]) == ("Done", "purple", True)
    listed = (await agent.call("browser_list_tab_groups", windowId=made["windowId"]))["groups"]
    assert {"Done"} <= {group["title"] for group in listed if group["usable"]}
    await agent.call("browser_remove_tabs_from_group", tabIds=[first, second])
    assert id not in await groups_of_browser(cdp)
    assert await reason(agent, "browser_list_tabs_in_group", groupId=id) == "not_found"
    assert await reason(agent, "browser_update_tab_group", groupId=id, title="x") == "not_found"


async def test_an_agent_cannot_group_tabs_of_another(
    agent: Agent, another: Agent, opened: Opener, window: Maker, cdp: Cdp, site: Site
) -> None:
    tab = await opened(site.page("form"))
    theirs = (await another.call("browser_open_tab", url=site.page("targets")))["tabId"]
    group = (await agent.call("browser_create_tab_group", tabIds=[tab], title="Mine"))["groupId"]
    calls: list[tuple[Agent, str, Json]] = [
        (another, "browser_create_tab_group", {"tabIds": [theirs, tab]}),
        (another, "browser_add_tabs_to_group", {"groupId": group, "tabIds": [theirs]}),
        (another, "browser_remove_tabs_from_group", {"tabIds": [tab]}),
        (another, "browser_update_tab_group", {"groupId": group, "title": "Taken"}),
        (agent, "browser_add_tabs_to_group", {"groupId": group, "tabIds": [theirs]}),
    ]
    for who, tool, arguments in calls:
        assert await reason(who, tool, **arguments) == "foreign_tab"
    elsewhere = (await window())["tabId"]
    far = {"groupId": group, "tabIds": [elsewhere]}
    assert await reason(agent, "browser_add_tabs_to_group", **far) == "invalid_arguments"
    gone = {"tabIds": [tab, 1]}
    assert await reason(agent, "browser_create_tab_group", **gone) == "tab_not_found"
    assert (await groups_of_browser(cdp))[group]["title"] == "Mine"
    await another.call("browser_close_tab", tabId=theirs)
