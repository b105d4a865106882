"""Pages that never answer again: their tabs can still be left, closed and taken back."""

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.support.agent import Agent, ToolFailed
from tests.support.cdp import Cdp
from tests.support.site import Site
from tests.support.world import at_work

pytestmark = pytest.mark.real_browser
HANGS = """<title>fine</title><script>
setTimeout(() => { document.title = "at work"; for (;;); }, 300)</script>"""


async def hung(agent: Agent, opened: Opener, site: Site) -> int:
    """A tab whose page has come to a standstill, and that nothing has touched since it opened."""
    tab = await opened(html(site, HANGS))
    await at_work(agent, tab)
    return tab


async def test_a_page_that_hangs_can_be_closed(agent: Agent, opened: Opener, site: Site) -> None:
    tab = await hung(agent, opened, site)
    assert (await agent.call("browser_close_tab", tabId=tab))["closed"] == tab
    listed = (await agent.call("browser_list_tabs"))["tabs"]
    assert tab not in [told["tabId"] for told in listed]


async def test_a_page_that_hangs_can_be_left(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    tab = await hung(agent, opened, site)
    url = f"{site.other}/html?body=next"
    assert (await agent.call("browser_navigate_tab", tabId=tab, url=url))["url"] == url
    assert await cdp.evaluate(await cdp.page(url), "document.body.innerText") == "next"


async def test_an_action_in_a_page_that_hangs_fails_by_itself(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await hung(agent, opened, site)
    with pytest.raises(ToolFailed, match="does not answer") as failed:
        await agent.call("browser_press_key", tabId=tab, key="a")
    assert failed.value.reason == "timeout"
