"""Two sites in the tabs of one browser, an agent, and shortcuts for what a page sends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tabhub.config.settings import Settings
from tabhub.server.serving import Server
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

SHOP, BANK = "https://shop.example", "https://bank.example"


class Sites:
    """A server, the double of its extension, and an agent."""

    def __init__(self, server: Server, extension: FakeExtension, agent: Agent) -> None:
        self.server = server
        self.extension = extension
        self.agent = agent

    async def update(self, number: int, *tools: dict[str, Any]) -> None:
        document = {"tabId": number, "frameId": 0, "documentId": f"doc-{number}"}
        await self.extension.notify("browser/updateTools", {**document, "tools": list(tools)})
        await self.extension.settled()

    async def close(self, number: int) -> None:
        await self.extension.notify("tab.stateChanged", {"tabId": number, "state": "closed"})
        await self.extension.settled()

    def listed(self) -> dict[str, str]:
        """The descriptions of the page tools by their names."""
        tools = self.server.app.hub.tools
        return {tool.name: tool.description for tool in tools if tool.source == "pages"}


@asynccontextmanager
async def sites(*numbers: int, settings: Settings | None = None) -> AsyncIterator[Sites]:
    """A browser with these tabs, none of which has published anything."""
    async with (
        served(settings) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(*(tab(number) for number in numbers))
        yield Sites(server, extension, Agent(http))
