"""Real Chromium, remote: what a client has begun ends with its level and with its connection."""

from typing import Any

import pytest

from tests.proxy.served import ServedProxy, client
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.remote import RemoteAgent, RemoteServer, listed, remote_agent, store
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
AGENT = "navigator.userAgent"


async def kept(browser: Cdp, part: str) -> Any:
    """What the worker keeps for tabs, in one of its parts."""
    return await browser.in_worker(f"describeTabState().then((all) => all['{part}'])")


async def until_ended(browser: Cdp, part: str) -> None:
    await eventually(lambda: kept(browser, part), part, until=lambda now: now == [])


async def used_by_phone(phone: RemoteAgent, url: str) -> int:
    """A tab that another client goes on using."""
    tab: int = (await phone.call("createTab", url=url))["tabId"]
    await phone.call("click", selector="#plain")
    return tab


async def test_a_raised_level_ends_nothing(proxy: ServedProxy, personal: Cdp, site: Site) -> None:
    await store(personal, remoteClients={"laptop": "look"})
    async with remote_agent(proxy) as agent:
        server = RemoteServer(agent)
        server.greet()
        refused = await server.run("tabs.open", url=site.page("targets"))
        assert refused["error"]["data"]["reason"] == "permission_off"
        await store(personal, remoteClients={"laptop": "act"})

        async def opened() -> bool:
            return "result" in await server.run("tabs.open", url=site.page("targets"))

        await eventually(opened, "the level to count")
        assert server.closed is None


async def test_what_a_client_has_switched_on_ends_though_another_one_uses_the_tab(
    proxy: ServedProxy, personal: Cdp, site: Site
) -> None:
    await store(personal, remoteClients={"laptop": "everything", "phone": "act"})
    async with remote_agent(proxy) as laptop, remote_agent(proxy, "phone") as phone:
        tab = await used_by_phone(phone, site.page("targets"))
        page = await personal.page_of(tab)
        true = await personal.evaluate(page, AGENT)
        await laptop.call("selectTab", tabId=tab)
        await laptop.cdp("Emulation.setUserAgentOverride", userAgent="changed")
        assert await personal.evaluate(page, AGENT) == "changed"
        hanging = {"expression": "new Promise(() => {})", "awaitPromise": True}
        params = {"method": "Runtime.evaluate", "params": hanging}
        request = {"jsonrpc": "2.0", "id": "hanging", "method": "forwardCDPCommand"}
        await laptop.side.send({**request, "params": params})
        await store(personal, remoteClients={"laptop": "look", "phone": "act"})
        ended = await laptop.side.next(id="hanging")
        assert ended["error"]["data"]["reason"] == "cancelled"
        await eventually(
            lambda: personal.evaluate(page, AGENT), "its end", until=lambda now: now == true
        )
        assert (await phone.call("click", selector="#plain"))["trusted"]
        assert (await laptop.call("screenshot"))["width"]


async def test_requests_are_held_no_longer_than_the_client_may_hold_them(
    proxy: ServedProxy, personal: Cdp, site: Site
) -> None:
    await store(personal, remoteClients={"laptop": "everything", "phone": "act"})
    async with remote_agent(proxy) as laptop, remote_agent(proxy, "phone") as phone:
        tab = await used_by_phone(phone, site.page("targets"))
        server = RemoteServer(laptop)
        server.greet()
        assert "result" in await server.run("intercept.start", tab, urlPatterns=["*"])
        assert await kept(personal, "interception")
        await store(personal, remoteClients={"laptop": "act", "phone": "act"})
        assert await server.until_closed() == 4403
        await until_ended(personal, "interception")
        assert (await phone.call("browser_navigate", url=site.page("form")))["url"]


async def test_the_tabs_of_a_client_are_released_with_its_connection(
    proxy: ServedProxy, personal: Cdp, site: Site
) -> None:
    await store(personal, remoteClients={"laptop": "act"})
    async with remote_agent(proxy) as agent:
        await agent.call("createTab", url=site.page("targets"))
        held = await kept(personal, "attachments")
        assert held["held"]
    await eventually(
        lambda: kept(personal, "attachments"), "the debugger", until=lambda now: not now["held"]
    )


async def test_what_a_server_had_set_up_ends_with_the_worker(
    proxy: ServedProxy, personal: Cdp, site: Site
) -> None:
    await store(personal, remoteClients={"laptop": "everything"})
    async with remote_agent(proxy) as agent:
        server = RemoteServer(agent)
        server.greet()
        opened = await server.run("tabs.open", url=site.page("targets"))
        tab = opened["result"]["output"]["tabId"]
        assert "result" in await server.run("intercept.start", tab, urlPatterns=["*"])
        await personal.kill_worker()
        await personal.open("about:blank")
        async with client(proxy) as side:
            await eventually(lambda: listed(side), "the extension to be back")
        await until_ended(personal, "interception")
        assert (await kept(personal, "attachments"))["held"] == []
