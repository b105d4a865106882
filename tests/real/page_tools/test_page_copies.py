"""One page in several tabs or frames: a duplicate, a list tab by tab, frames with the worker."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agents.mcp.clients import Event, LoneClient, events, next_message
from tests.real.page_tools.framed import framed
from tests.support.browsers.page_tools import listed, tool_name, until
from tests.support.browsers.plain import TAB_ID
from tests.support.browsers.shops import Shops, shops

pytestmark = pytest.mark.real_browser
MUG = {"sku": "mug"}


async def duplicated(here: Shops, tab: int) -> tuple[str, int]:
    """Duplicate a tab as a person does; the page and tab id of the copy."""
    copy: int = await here.cdp.in_worker(f"chrome.tabs.duplicate({tab}).then((tab) => tab.id)")
    return await here.cdp.page_of(copy), copy


@pytest.mark.requirement("MT-05")
async def test_a_duplicate_of_a_tab_shares_the_entry_and_gets_its_own_calls(
    tmp_path: Path,
) -> None:
    async with shops(tmp_path) as here:
        ((page, tab),) = await here.shops(1)
        before = set(await listed(here.agent))
        twin, copy = await duplicated(here, tab)
        await here.have("view_cart", tab, copy)
        assert set(await listed(here.agent)) == before
        assert {entry["tabId"] for entry in await here.tabs()} == {tab, copy}
        assert await here.used("add_to_cart", **MUG, tabId=copy) == copy
        assert await here.bought(page, twin) == [0, 1]
        assert await here.used("add_to_cart", **MUG, tabId=tab) == tab
        assert await here.bought(page, twin) == [1, 1]
        await here.close(page)
        await here.have("view_cart", copy)
        assert await here.used("add_to_cart", **MUG) == copy


@pytest.mark.requirement("MT-02")
@pytest.mark.requirement("MT-08")
@pytest.mark.document("MT-persistence-3")
async def test_a_duplicate_of_a_tab_with_the_worker_has_an_id_of_its_own(tmp_path: Path) -> None:
    async with shops(tmp_path, paired=True) as here:
        page, tab = await here.tab(here.shop)
        id = await here.connected(page)
        await here.have("view_cart", tab)
        twin, copy = await duplicated(here, tab)
        other = await here.connected(twin)
        assert other != id and await here.value(page, TAB_ID) == id
        await here.have("view_cart", tab, copy)
        assert {entry["tabId"] for entry in await here.tabs()} == {tab, copy}
        for named, real in ((other, copy), (id, tab), (copy, copy)):
            assert await here.used("add_to_cart", **MUG, tabId=named) == real
        assert await here.bought(page, twin) == [1, 2]


@pytest.mark.requirement("MT-02")
@pytest.mark.requirement("MT-08")
async def test_a_page_and_its_frame_with_the_worker_are_one_tab_of_the_extension(
    tmp_path: Path,
) -> None:
    async with shops(tmp_path, paired=True) as here:
        page = await here.open(here.shop, before=framed(here, "load"))
        id, tab = await here.connected(page), await here.number(page)
        for _ in range(2):
            for name in ("inner", "view_cart"):
                await here.have(name, tab)
                assert await here.used(name) == tab == await here.used(name, tabId=id)
            assert [(entry["tabId"], entry["url"]) for entry in await here.tabs()] == [
                (tab, here.shop)
            ]
            await here.value(page, "window.old = 1; location.reload()")
            await here.until(page, "window.old === undefined")
            assert await here.connected(page) == id


@pytest.mark.requirement("MB-06")
@pytest.mark.document("MB-execution-9", "MB-execution-11")
async def test_in_a_list_by_tab_each_tab_has_its_entry_and_focus_changes_send_nothing(
    tmp_path: Path,
) -> None:
    params = {"notifications": {"toolsListChanged": True, "resourcesListChanged": True}}
    async with shops(tmp_path, {"exposure": "per-tab"}) as here:
        pages = [await here.tab() for _ in range(2)]
        names = [tool_name(here.site, f"tab{number}_view_cart") for number in (1, 2)]
        last = {name.replace("view_cart", "checkout") for name in names}
        await until(here.agent, lambda tools: last <= set(tools))
        assert tool_name(here.site, "view_cart") not in await listed(here.agent)
        async with LoneClient(here.agent.http).streaming("subscriptions/listen", params) as stream:
            messages = events(stream)
            await next_message(messages)
            await announcements(here, messages)
            owners = {}
            for page, tab in (*pages, pages[0]):
                await here.show(page)
                await here.looked_at(tab)
                marks = await marked(here)
                assert len(marks) == 1
                owners[tab] = marks[0]
                assert await ran_in(here, marks[0]) == tab
            assert sorted(owners.values()) == sorted(names)
            assert "notifications/tools/list_changed" not in await announcements(here, messages)
        await here.close(pages[0][0])
        gone = owners[pages[0][1]]
        await until(here.agent, lambda tools: gone not in tools)
        assert await ran_in(here, owners[pages[1][1]]) == pages[1][1]


async def announcements(here: Shops, messages: AsyncIterator[Event]) -> list[str]:
    """The announcements so far: all that precede the announcement of a new tab."""
    await here.agent.call("browser_open_tab", url="about:blank")
    announced: list[str] = []
    while "notifications/resources/list_changed" not in announced:
        announced.append((await next_message(messages))["method"])
    return announced


async def marked(here: Shops) -> list[str]:
    """The entries of `view_cart` that are marked as active."""
    tools = (await listed(here.agent)).values()
    ours = [tool for tool in tools if tool["name"].endswith("_view_cart")]
    return [tool["name"] for tool in ours if " Active]" in tool["description"]]


async def ran_in(here: Shops, name: str) -> object:
    return (await here.agent.result(name))["_meta"]["tabhub/tabId"]
