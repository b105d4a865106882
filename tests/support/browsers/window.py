"""A double of a browser that keeps its own tabs, and the calls of agents in them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tabhub.server.serving import Server
from tests.agents.mcp.clients import SessionClient
from tests.support.browsers.extension import FakeExtension, connected, tab

Json = dict[str, Any]


class Window:
    """A browser's tabs, kept by the double."""

    def __init__(self, extension: FakeExtension) -> None:
        self.extension = extension
        self.tabs: dict[int, Json] = {}
        self.groups: list[Json] = []
        extension.handlers.update(
            {
                "tabs.open": self.open,
                "tabs.list": lambda params: {"tabs": list(self.tabs.values())},
                "tabs.close": lambda params: {"closed": self.tabs.pop(params["tabId"])["tabId"]},
                "tabs.group": lambda params: {},
                "tabs.ungroup": lambda params: {},
                "page.evaluate": lambda params: {"value": params["tabId"]},
            }
        )

    def open(self, params: Json) -> Json:
        id = 100 + len(self.groups)
        self.groups.append(params["input"]["group"])
        self.tabs[id] = tab(id, url=params["input"]["url"])
        return {**self.tabs[id], "status": "complete", "groupId": 7}


@asynccontextmanager
async def browser(server: Server, *tabs: Json, **more: Any) -> AsyncIterator[Window]:
    async with connected(server.port) as extension:
        window = Window(extension)
        window.tabs = {tab["tabId"]: tab for tab in tabs}
        await extension.sync(*tabs, shared=False, **more)
        yield window


async def opened(session: SessionClient) -> int:
    answer = (await session.call("browser_open_tab", url="https://example.com/")).json()
    id: int = answer["result"]["structuredContent"]["tabId"]
    return id


async def outcome(session: SessionClient, tab_id: int | None = None, **more: Any) -> Any:
    """The tab that ran a script, or the reason of the error."""
    arguments = {"code": "1", **more} | ({} if tab_id is None else {"tabId": tab_id})
    result = (await session.call("browser_execute_script", **arguments)).json()["result"]
    data = result["structuredContent"]
    return data["error"]["reason"] if result.get("isError") else data["value"]
