"""tabhub itself, and the minimal extension in `browser/minimal_extension/`."""

from bench.browser.minimal_extension import MinimalExtension
from bench.caller import Caller
from bench.peers.compared_server import CannotDo, ComparedServer, Spot

EVERYTHING = 1_000_000


class Tabhub(ComparedServer):
    """Through `/mcp`, with one session."""

    name = "tabhub"
    is_peer = False

    def __init__(self, agent: Caller, tab: int) -> None:
        self._agent = agent
        self._tabs = [tab]

    async def visit(self, url: str) -> int:
        return await self._size("browser_navigate_tab", url=url)

    async def evaluate(self) -> int:
        return await self._size("browser_execute_script", code="1+1")

    async def screenshot(self) -> int:
        result = await self._agent.call("browser_screenshot_tab", tabId=self._tabs[-1])
        return len(str(result))

    async def click(self, spot: Spot) -> int:
        return await self._size("browser_click_element", selector=spot.selector)

    async def fill(self, spot: Spot, text: str) -> int:
        return await self._size("browser_type_text", selector=spot.selector, text=text)

    async def snapshot(self) -> int:
        return await self._size("browser_read_page", max_chars=EVERYTHING)

    async def list_tabs(self) -> int:
        result = await self._agent.call("browser_list_tabs")
        return len(result["content"][0]["text"])

    async def open_tab(self, url: str) -> int:
        self._tabs.append(await self._agent.open(url))
        return 0

    async def close_tab(self) -> None:
        await self._agent.call("browser_close_tab", tabId=self._tabs.pop())

    async def list_tools(self) -> int:
        return len(await self._agent.request("tools/list", {}))

    async def _size(self, tool: str, **arguments: object) -> int:
        result = await self._agent.call(tool, tabId=self._tabs[-1], **arguments)
        return len(result["content"][0]["text"].encode())


class BareExtension(ComparedServer):
    """The minimal extension, which checks nothing."""

    name = "floor"
    is_peer = False

    def __init__(self, minimal: MinimalExtension, tab: int) -> None:
        self._minimal = minimal
        self._tabs = [tab]
        self._point = [0.0, 0.0]

    async def visit(self, url: str) -> int:
        return await self._do("navigate", url=url)

    async def evaluate(self) -> int:
        return await self._do("evaluate", code="1+1")

    async def screenshot(self) -> int:
        return await self._do("screenshot")

    async def prepare(self, spot: Spot) -> None:
        self._point = await self._minimal.ask("locate", tab=self._tabs[-1], selector=spot.selector)

    async def click(self, spot: Spot) -> int:
        return await self._do("click", point=self._point)

    async def fill(self, spot: Spot, text: str) -> int:
        return await self._do("fill", selector=spot.selector, text=text)

    async def list_tabs(self) -> int:
        return len(str(await self._minimal.ask("list")))

    async def open_tab(self, url: str) -> int:
        self._tabs.append(await self._minimal.ask("open", url=url))
        return 0

    async def close_tab(self) -> None:
        await self._minimal.ask("close", tab=self._tabs.pop())

    async def snapshot(self) -> int:
        raise CannotDo

    async def _do(self, command: str, **arguments: object) -> int:
        return len(str(await self._minimal.ask(command, tab=self._tabs[-1], **arguments)))
