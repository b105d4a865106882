"""Pages that hang: their tabs can still be navigated, closed and taken back."""

from pathlib import Path
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import at_work, rig
from tests.support.browsers.panel import panel_of
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
HANGS = """<title>fine</title><script>
setTimeout(() => { document.title = "at work"; for (;;); }, 300)</script>"""
FRAME_HANGS = """<script>
setTimeout(() => { parent.postMessage("at work", "*"); setTimeout(() => { for (;;); }); }, 300)
</script>"""
HEARS = "<script>onmessage = ({ data }) => (document.title = data)</script>"


async def hung(agent: Agent, opened: Opener, site: Site) -> int:
    """A tab whose page hangs, and that no call has used since it opened."""
    tab = await opened(html(site, HANGS))
    await at_work(agent, tab)
    return tab


async def test_a_page_that_hangs_can_be_closed(agent: Agent, opened: Opener, site: Site) -> None:
    tab = await hung(agent, opened, site)
    assert (await agent.call("browser_close_tab", tabId=tab))["closed"] == tab
    listed = (await agent.call("browser_list_tabs"))["tabs"]
    assert tab not in [entry["tabId"] for entry in listed]


async def test_a_tab_whose_page_hangs_can_be_navigated(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    tab = await hung(agent, opened, site)
    url = f"{site.other}/html?body=next"
    assert (await agent.call("browser_navigate_tab", tabId=tab, url=url))["url"] == url
    assert await cdp.evaluate(await cdp.page(url), "document.body.innerText") == "next"


async def test_an_action_in_a_page_that_hangs_times_out(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await hung(agent, opened, site)
    with pytest.raises(ToolFailed, match="does not answer") as failed:
        await agent.call("browser_press_key", tabId=tab, key="a")
    assert failed.value.reason == "timeout"


async def test_a_search_says_that_a_frame_did_not_answer(
    agent: Agent, opened: Opener, site: Site
) -> None:
    source = f"{site.other}/html?body={quote('<button>Pay</button>' + FRAME_HANGS)}"
    page = f"<title>fine</title><button>Order</button><iframe src='{source}'></iframe>{HEARS}"
    await at_work(agent, await opened(html(site, page)))
    result = await agent.result("browser_find", query="Order")
    assert [match["name"] for match in result["structuredContent"]["matches"]] == ["Order"]
    assert "Only a part of the page could be searched" in result["content"][0]["text"]


STANDING = """Promise.all([chrome.tabs.get(%d), chrome.storage.session.get("holds")])
  .then(([tab, { holds }]) => [tab.groupId, holds.filter(([id]) => id === tab.id)])"""
DARK = [{"name": "prefers-color-scheme", "value": "dark"}]


async def test_a_person_can_take_back_a_tab_with_an_open_dialog_at_once(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path, {}) as here, here.agent("ann") as ann:
        url = html(site, "<style>b { color: red }</style><b>asks</b>")
        tab = (await ann.call("browser_open_tab", url=url))["tabId"]
        await ann.call("browser_set_media_features", features=DARK)
        await ann.call("browser_throttle_network", preset="wifi")
        await ann.call("browser_get_css_coverage")
        await here.cdp.evaluate(await here.cdp.page(url), "setTimeout(() => alert(1), 50), 1")
        await eventually(
            lambda: ann.call("browser_get_tab_info"), until=lambda found: "dialog" in found
        )
        async with panel_of(here.cdp) as panel:
            await panel.view("tabs")
            await panel.click(f"li[data-tab='{tab}'] button[data-action=take-back]")
        worker = await here.cdp.worker()
        await eventually(
            lambda: here.cdp.evaluate(worker, STANDING % tab), until=lambda found: found == [-1, []]
        )
