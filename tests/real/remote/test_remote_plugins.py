"""Real Chromium, remote: plugins of a server on another machine."""

import base64

import pytest

from tests.proxy.served import ServedProxy
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.plugins import ADAPTER, digest
from tests.support.browsers.remote import Json, RemoteAgent, RemoteServer, remote_agent, store
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
PLUGIN: Json = {
    "name": "notes",
    "version": "1.0.0",
    "urlPatterns": ["*://127.0.0.1/*"],
    "excludePatterns": [],
    "adapter": digest(ADAPTER),
    "preScript": None,
    "settings": {"colour": "red"},
    "urls": {},
}


class PluginServer(RemoteServer):
    """A server that sends the code of its plugin."""

    def __init__(self, agent: RemoteAgent) -> None:
        super().__init__(agent)
        self.asked = 0

    def taken(self, message: Json) -> None:
        if message.get("method") == "plugin.code":
            self.asked += 1
            data = base64.b64encode(ADAPTER).decode()
            self.answer(message["id"], {"data": data, "size": len(ADAPTER)})

    async def readiness(self, tab: int, ready: bool) -> Json:
        def fits(message: Json) -> bool:
            reports = message.get("params", {}).get("tabs", [])
            is_report = message.get("method") == "plugin.readiness"
            return is_report and (reports[0]["tabId"], reports[0]["ready"]) == (tab, ready)

        report: Json = (await self.until(fits))["params"]["tabs"][0]
        return report

    async def waiting(self, tab: int, words: str) -> None:
        """Wait until a report says that the plugin is not in the tab, in these words."""

        def fits(message: Json) -> bool:
            is_report = message.get("method") == "plugin.readiness"
            reports = message["params"]["tabs"] if is_report else []
            return any(
                (each["tabId"], each.get("reason")) == (tab, "not_injected")
                and words in each["message"]
                for each in reports
            )

        await self.until(fits)


async def opened(browser: Cdp, site: Site) -> int:
    url = site.page("targets")
    await browser.open(url)
    fits = f"(tab) => tab.url === {url!r} && tab.status === 'complete'"
    code = f"chrome.tabs.query({{}}).then((all) => all.find({fits})?.id)"
    found: int = await eventually(lambda: browser.in_worker(code), url)
    return found


async def test_a_plugin_of_a_remote_server_is_put_in_by_the_debugger_and_leaves_with_it(
    proxy: ServedProxy, browser: Cdp, site: Site
) -> None:
    tab = await opened(browser, site)
    page = await browser.page(site.page("targets"))
    async with remote_agent(proxy) as agent:
        server = PluginServer(agent)
        server.greet(plugins=[PLUGIN])
        await server.waiting(tab, "on another machine")
        assert server.asked == 0
        answer = await server.run("echo", tab, "notes", text="a")
        assert answer["result"]["output"] == {"input": {"text": "a"}, "config": {"colour": "red"}}
        await server.readiness(tab, ready=True)
        assert server.asked == 1
        await server.leave()
        await eventually(
            lambda: browser.evaluate(page, "pluginEvents.at(-1)"),
            "the plugin to be torn down",
            until=lambda last: last == "torn down",
        )


async def test_below_the_level_everything_no_plugin_is_put_in_and_the_reason_is_said(
    proxy: ServedProxy, personal: Cdp, site: Site
) -> None:
    await store(personal, remoteClients={"laptop": "act"})
    tab = await opened(personal, site)
    page = await personal.page(site.page("targets"))
    async with remote_agent(proxy) as agent:
        server = PluginServer(agent)
        server.greet(plugins=[PLUGIN])
        await server.waiting(tab, "needs the level “everything”")
        refused = (await server.run("echo", tab, "notes", text="a"))["error"]
        assert refused["data"]["readiness"] == "not_injected"
        assert "a plugin needs the level “everything”" in refused["message"]
        assert server.asked == 0
    assert await personal.evaluate(page, "'adapterRuns' in window") is False
