"""@playwright/mcp."""

from bench.peers.compared_server import ComparedServer, Spot
from bench.peers.stdio import StdioServer


class Playwright(ComparedServer):
    """With its default pause after actions, or without."""

    def __init__(self, server: StdioServer, name: str) -> None:
        self._server = server
        self.name = name

    async def visit(self, url: str) -> int:
        return len(await self._server.text("browser_navigate", url=url))

    async def evaluate(self) -> int:
        return len(await self._server.text("browser_evaluate", function="() => 1+1"))

    async def screenshot(self) -> int:
        result = await self._server.call("browser_take_screenshot", type="jpeg", scale="css")
        return len(str(result))

    async def click(self, spot: Spot) -> int:
        return len(await self._server.text("browser_click", target=spot.selector))

    async def fill(self, spot: Spot, text: str) -> int:
        return len(await self._server.text("browser_type", target=spot.selector, text=text))

    async def snapshot(self) -> int:
        return len((await self._server.text("browser_snapshot")).encode())

    async def list_tabs(self) -> int:
        return len(await self._server.text("browser_tabs", action="list"))

    async def open_tab(self, url: str) -> int:
        return len(await self._server.text("browser_tabs", action="new", url=url))

    async def close_tab(self) -> None:
        await self._server.call("browser_tabs", action="close")

    async def list_tools(self) -> int:
        return len((await self._server.request("tools/list", {}))[0])
