"""Real Chromium, remote: the brake stops agents on other machines too."""

from pathlib import Path

import pytest

from tests.proxy.served import ServedProxy
from tests.support.agent import ToolFailed
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import rig
from tests.support.browsers.panel import PANEL, panel_of
from tests.support.browsers.remote import configure, listed, page_of, remote_agent, store, stored
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-43")]

STOP = "[data-action=stop-all]"
RESUME = "[data-action=resume-all]"
HANGING = {
    "method": "Runtime.evaluate",
    "params": {"expression": "new Promise(() => {})", "awaitPromise": True},
}


async def test_the_brake_stops_agents_here_and_on_other_machines(
    tmp_path: Path, proxy: ServedProxy, site: Site
) -> None:
    async with rig(tmp_path) as here, here.agent("near") as near, panel_of(here.cdp) as panel:
        await configure(here.cdp, proxy)
        async with remote_agent(proxy) as far:
            await far.call("createTab", url=site.page("form"))
            request = {"jsonrpc": "2.0", "id": "hanging", "method": "forwardCDPCommand"}
            await far.side.send({**request, "params": HANGING})
            await panel.click(STOP)
            await far.side.next(method="disconnected")
            banner = await panel.text(f"#banner :has(> {RESUME})")
            assert "Everything is stopped: no agent can act." in banner
            assert await listed(far.side) == []
            with pytest.raises(ToolFailed) as refused:
                await near.call("browser_list_tabs")
            assert refused.value.reason == "paused_by_person"
            await panel.click(RESUME)
            await eventually(lambda: listed(far.side), "the extension to be back")
            assert "tabs" in await near.call("browser_list_tabs")
        await panel.text(STOP)


async def test_the_brake_needs_no_server_on_this_machine(proxy: ServedProxy, personal: Cdp) -> None:
    await store(personal, remoteClients={"laptop": "everything"})
    async with remote_agent(proxy) as agent, page_of(personal, PANEL) as panel:
        await agent.call("createTab")
        await panel.click(STOP)
        await agent.side.next(method="disconnected")
        await personal.kill_worker()
        await personal.open("about:blank")
        assert "Everything is stopped" in await panel.text(f"#banner :has(> {RESUME})")
        assert await listed(agent.side) == []
        await panel.click(RESUME)
        await eventually(lambda: listed(agent.side), "the extension to be back")
        await panel.text(STOP)


async def test_what_the_person_had_ended_before_stays_ended(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    async with rig(tmp_path) as here, panel_of(here.cdp) as panel:
        await configure(here.cdp, proxy)
        await panel.view("remote")
        await panel.click("[data-action=remote-end]")
        await panel.click(STOP)
        await panel.click(RESUME)
        await panel.text(STOP)
        assert await stored(here.cdp, "remoteEnded") is True
