"""chrome-devtools-mcp, with all its tools and in its slim form."""

import re

from bench.peers.compared_server import ComparedServer, Spot
from bench.peers.stdio import StdioServer


class DevTools(ComparedServer):
    """With all tools. A snapshot gives each element a uid."""

    name = "devtools"

    def __init__(self, server: StdioServer) -> None:
        self._server = server
        self._page = 1
        self._uid = ""

    async def visit(self, url: str) -> int:
        return len(await self._text("navigate_page", type="url", url=url))

    async def evaluate(self) -> int:
        return len(await self._text("evaluate_script", function="() => 1+1"))

    async def screenshot(self) -> int:
        result = await self._server.call("take_screenshot", pageId=self._page, format="jpeg")
        return len(str(result))

    async def prepare(self, spot: Spot) -> None:
        snapshot = await self._text("take_snapshot")
        found = re.search(rf'uid=(\S+) {spot.role} "{spot.name}"', snapshot)
        if not found:
            raise RuntimeError(f"No {spot} in:\n{snapshot[:2000]}")
        self._uid = found[1]

    async def click(self, spot: Spot) -> int:
        return len(await self._text("click", uid=self._uid))

    async def fill(self, spot: Spot, text: str) -> int:
        return len(await self._text("fill", uid=self._uid, value=text))

    async def snapshot(self) -> int:
        return len((await self._text("take_snapshot")).encode())

    async def list_tabs(self) -> int:
        return len(await self._server.text("list_pages"))

    async def open_tab(self, url: str) -> int:
        text = await self._server.text("new_page", url=url)
        self._page = max(map(int, re.findall(r"^(\d+): ", text, re.MULTILINE)))
        return len(text)

    async def close_tab(self) -> None:
        await self._server.call("close_page", pageId=self._page)
        self._page = 1

    async def list_tools(self) -> int:
        return len((await self._server.request("tools/list", {}))[0])

    async def _text(self, tool: str, **arguments: object) -> str:
        return await self._server.text(tool, pageId=self._page, **arguments)


class SlimDevTools(ComparedServer):
    """With three tools only."""

    name = "devtools slim"

    def __init__(self, server: StdioServer) -> None:
        self._server = server

    async def visit(self, url: str) -> int:
        return len(await self._server.text("navigate", url=url))

    async def evaluate(self) -> int:
        return len(await self._server.text("evaluate", script="1+1"))

    async def screenshot(self) -> int:
        return len(str(await self._server.call("screenshot")))

    async def list_tools(self) -> int:
        return len((await self._server.request("tools/list", {}))[0])
