"""A page with frames of its own site, or with two clients, is one tab."""

import json
from pathlib import Path

import pytest

from tests.real.page_tools.framed import INNER, framed
from tests.support.browsers.plain import TAB_ID
from tests.support.browsers.shops import WorkerShops, worker_shops
from tests.support.eventually import eventually

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("MT-02")]

ADD_FRAME = """new Promise((loaded) => {
  const frame = document.createElement("iframe");
  frame.src = "/shop.css";
  frame.onload = () => loaded(frame.contentWindow.eval(%s));
  document.body.append(frame);
})"""


async def one_tab(here: WorkerShops, page: str) -> str:
    """Wait until the page and its frame have their tools; the id of their tab, the only one."""
    tab = await here.connected(page)
    for name in ("inner", "view_cart"):
        await here.have(name, tab)
    assert [(entry["tabId"], entry["url"]) for entry in await here.tabs()] == [(tab, here.shop)]
    return tab


@pytest.mark.requirement("MT-04")
@pytest.mark.parametrize("moment", ["DOMContentLoaded", "load"])
async def test_a_frame_of_the_same_site_belongs_to_the_tab_of_its_page(
    tmp_path: Path, moment: str
) -> None:
    async with worker_shops(tmp_path) as here:
        page = await here.open(before=framed(here, moment))
        tab = await one_tab(here, page)
        for count in range(2):
            await here.value(page, f"window.old = {count}; location.reload()")
            await here.until(page, "window.old === undefined")
            assert await one_tab(here, page) == tab
        name = (await here.tool("inner"))["name"]
        assert await here.agent.text(name) == "/shop.css"
        assert await here.used("view_cart", tabId=tab) == tab
        await here.value(page, "document.querySelector('iframe').remove()")
        await here.without("inner")
        assert await here.used("view_cart") == tab
        assert await here.value(page, TAB_ID) == tab


async def test_a_copy_of_a_page_with_a_frame_is_one_other_tab(tmp_path: Path) -> None:
    async with worker_shops(tmp_path) as here:
        page = await here.open(before=framed(here, "load"))
        tab = await one_tab(here, page)
        await here.value(page, "void window.open(location.href + '&twin')")
        twin = await here.page("&twin")
        other = await here.connected(twin)
        await here.value(twin, ADD_FRAME % json.dumps(INNER % (here.hub, "inner")))
        await here.have("inner", tab, other)
        assert {entry["tabId"] for entry in await here.tabs()} == {tab, other}
        assert [await here.value(document, TAB_ID) for document in (page, twin)] == [tab, other]


async def test_two_clients_in_one_document_are_one_tab(tmp_path: Path) -> None:
    async with worker_shops(tmp_path) as here:
        page = await here.open()
        tab = await here.connected(page)
        for name in ("second", "third"):
            await here.value(page, INNER % (here.hub, name))
            assert await here.value(page, "client.getTabId()") == tab
        for name in ("view_cart", "second", "third"):
            await here.have(name, tab)
            assert await here.used(name) == tab
        assert len(await here.tabs()) == 1
        await here.value(page, "client.close()")
        await here.without("third")
        assert await here.used("second") == tab
        await here.value(page, "window.old = 1; location.reload()")
        await here.until(page, "window.old === undefined")
        assert await here.connected(page) == tab


async def test_frames_in_the_page_of_another_site_are_tabs_that_keep_no_id(tmp_path: Path) -> None:
    async with worker_shops(tmp_path) as here:
        # The browser shows no prompt for a frame: its page has to delegate the permission.
        frames = f"<iframe allow='loopback-network' src='{here.shop}'></iframe>" * 2
        page = await here.open(f"{here.site.replace('127.0.0.1', 'localhost')}/shop.css")
        await here.value(page, f"void (document.body.innerHTML = {frames!r})")
        tabs = await eventually(here.tabs, until=lambda tabs: len(tabs) >= 2)
        ids = [entry["tabId"] for entry in tabs]
        await here.have("view_cart", *ids)
        for tab in ids:
            assert await here.used("view_cart", tabId=tab) == tab
        targets = (await here.cdp.send("Target.getTargets"))["targetInfos"]
        inner = [target["targetId"] for target in targets if target["type"] == "iframe"]
        assert [await here.value(frame, TAB_ID) for frame in inner] == [None, None]
