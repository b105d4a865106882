"""Real Chromium, remote: what a person is asked about is outlined for nobody else."""

from pathlib import Path

import pytest

from tests.proxy.served import ServedProxy
from tests.support.browsers.managed import started
from tests.support.browsers.persons import panel_port, persons_browser
from tests.support.browsers.remote import configure, remote_agent, store
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

OUTLINE = "[...document.documentElement.children].some((one) => one.matches(':popover-open'))"


async def test_raw_commands_of_remote_clients_never_see_the_outline(
    tmp_path: Path, proxy: ServedProxy, site: Site
) -> None:
    async with persons_browser(tmp_path) as here, here.agent("robot") as agent:
        opening = started(agent.call("browser_open_tab", url=site.page("asked")))
        panel = await panel_port(here.cdp)
        await panel.allow()
        tab = (await opening)["tabId"]
        page = await here.cdp.page(site.page("asked"))
        await configure(here.cdp, proxy)
        await store(here.cdp, remoteClients={"laptop": "everything"})
        async with remote_agent(proxy) as far:
            await far.call("selectTab", tabId=tab)
            before = await far.cdp("Page.captureScreenshot", format="png")
            click = started(agent.call("browser_click_element", tabId=tab, selector="#order"))
            id = (await panel.question())["id"]
            await panel.ask("confirmation.outline", id=id, shown=True)
            await eventually(lambda: here.cdp.evaluate(page, OUTLINE), "the outline")
            assert await far.value(OUTLINE) is False
            await eventually(lambda: here.cdp.evaluate(page, OUTLINE), "the outline to be back")
            during = await far.cdp("Page.captureScreenshot", format="png")
            assert during["data"] == before["data"]
        click.cancel()
