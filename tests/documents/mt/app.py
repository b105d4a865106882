"""The app of the multi-tab document, without the extension: page, worker, server and an agent.

`app` plays the worker's part message by message; `real_app` opens the pages in a browser.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.hub.hub import Hub
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.page_tools import PageTools, listed, tool_name
from tests.support.browsers.plain import PlainBrowser, browser
from tests.support.browsers.worker import FakeWorker, admitted, tool
from tests.support.serving import client, served
from tests.support.static_site import serving

ROOT = Path(__file__).parents[3]
ORIGIN = "https://app.example.com"
TAB_A = "550e8400-e29b-41d4-a716-446655440000"
TAB_B = "6fa459ea-ee8a-3ca4-894e-db77e160355e"
DASHBOARD = {"url": f"{ORIGIN}/dashboard", "title": "Dashboard - My App"}
SETTINGS = {"url": f"{ORIGIN}/settings", "title": "Settings - My App"}
PAGE = """<!doctype html><title>%s - My App</title><script type="module">
  import * as library from "/pagekit/pagekit.js";
  Object.assign(window, library);
  const url = new URLSearchParams(location.search).get("hub");
  window.workerClient = new WorkerClient({ url });
  %s
</script>"""
TELL = """await workerClient.registerTool(%r, "What this page is.", null, () => ({
    content: [{ type: "text", text: document.title }],
  }));"""
TOOLS = {"dashboard": "get_page_info", "settings": "get_settings"}
IS_READY = "window.workerClient?.status.state === 'connected' && workerClient.getTabId()"


class App:
    """The worker of the app, and an agent that calls its tools."""

    def __init__(self, hub: Hub, worker: FakeWorker, agent: Agent) -> None:
        self.hub = hub
        self.worker = worker
        self.agent = agent

    async def open(self, tab: str, *tools: str, page: dict[str, str] = DASHBOARD) -> None:
        """A tab opens and is focused: it registers with its tools, and becomes active."""
        await self.register(tab, *tools, page=page)
        await self.focus(tab)

    async def register(self, tab: str, *tools: str, page: dict[str, str] = DASHBOARD) -> None:
        assert "result" in await self.worker.register(tab, *map(tool, tools), **page)

    async def focus(self, tab: str | None) -> None:
        assert "result" in await self.worker.ask("browser/activeTab", tabId=tab)

    async def close(self, tab: str) -> None:
        assert "result" in await self.worker.ask("browser/unregisterTools", tabId=tab)

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that answers; the message that reaches the worker."""
        calling = asyncio.ensure_future(self.agent.result(tool_name(ORIGIN, name), **arguments))
        request = await self.worker.next()
        await self.worker.answer(request, {"content": [{"type": "text", "text": "done"}]})
        assert (await calling)["content"][0]["text"] == "done"
        return request

    async def routed(self, name: str, **arguments: Any) -> str:
        """The tab that a call goes to."""
        tab: str = (await self.call(name, **arguments))["params"]["tabId"]
        return tab

    async def failure(self, name: str, **arguments: Any) -> ToolFailed:
        with pytest.raises(ToolFailed) as failed:
            await self.agent.text(tool_name(ORIGIN, name), **arguments)
        return failed.value

    async def tabs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.agent.result("list_browser_tabs"))[
            "structuredContent"
        ]
        return found

    async def tools(self) -> dict[str, dict[str, Any]]:
        """The app's tools as agents see them, by the names that its pages use."""
        start = tool_name(ORIGIN, "")
        every = await listed(self.agent)
        return {
            name.removeprefix(start): found
            for name, found in every.items()
            if name.startswith(start)
        }


@asynccontextmanager
async def app() -> AsyncIterator[App]:
    """Nothing but a pairing: no settings, no extension, no panel."""
    async with (
        served() as server,
        admitted(server, ORIGIN) as worker,
        client(server.port) as http,
    ):
        yield App(server.app.hub, worker, Agent(http))


class RealApp(PlainBrowser, PageTools):
    """The pages of the app in a browser without the extension."""

    def address(self, name: str) -> str:
        return f"{self.site}/{name}.html?hub={self.hub}"

    async def tab(self, name: str = "dashboard", **more: Any) -> tuple[str, str]:
        """Open a page; the page, and the id of its tab once the server knows it."""
        page = await self.open(self.address(name), **more)
        return page, await self.ready(page)

    async def ready(self, page: str) -> str:
        id: str = await self.until(page, IS_READY)
        await self.until(page, "workerClient.ready.then(() => 1)")
        return id


@asynccontextmanager
async def real_app(folder: Path) -> AsyncIterator[RealApp]:
    site = folder / "site"
    shutil.copytree(ROOT / "pagekit", site / "pagekit")
    for name, its_tool in TOOLS.items():
        (site / f"{name}.html").write_text(PAGE % (name.capitalize(), TELL % its_tool))
    with serving(site) as url:
        async with served() as server, browser(folder) as cdp, client(server.port) as http:
            server.app.pairing.confirm(url, None)
            here = RealApp(cdp, url, server.port)
            here.agent = Agent(http)
            yield here
