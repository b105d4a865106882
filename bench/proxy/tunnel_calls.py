"""A tool call through the tunnel, against the same action as a forwarded request.

Both go through one node with TLS to one browser. The tool call comes from an agent of a far server,
the forwarded request from a client of the proxy.
"""

import tempfile
from collections.abc import Awaitable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import uvloop
import websockets.asyncio.client as ws

from bench.browser.evaluate import tight
from bench.caller import Caller
from bench.rows import Row
from tests.proxy.certificates import trusting
from tests.proxy.served import Side
from tests.support.browsers.far import FarSide, until_connected
from tests.support.product import Product
from tests.support.site import serving

MOST = 1.3
WARM_UP = 50
BUTTON = "#plain"


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from uvloop.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Row]:
    side, product = FarSide(folder / "far"), Product(folder / "home")
    with serving() as site, side.node() as (url, _), side.server(product, url) as port:
        async with side.browser(url):
            await until_connected(product)
            return await _compared(product, port, side, url, site.page("targets"))


async def _compared(product: Product, port: int, side: FarSide, url: str, page: str) -> list[Row]:
    agent = await Caller.begin(port, product.secret)
    tab = await agent.open(page)
    address = f"{url.replace('https', 'wss')}/mcp"
    async with ws.connect(address, ssl=trusting(), compression=None) as socket:
        raw = Side(socket)
        await raw.ask(1, "mcp_handshake", {"accessToken": side.token("raw")})
        [extension] = (await raw.ask(2, "list_extensions"))["result"]["extensions"]
        await raw.ask(3, "connect", {"extension_id": extension["id"]})
        await raw.ask(4, "createTab", {"url": page})

        async def click() -> None:
            await _forwarded(raw, "click", {"selector": BUTTON})

        async def evaluate() -> None:
            params = {"expression": "1+1", "returnByValue": True}
            await _forwarded(
                raw, "forwardCDPCommand", {"method": "Runtime.evaluate", "params": params}
            )

        def tool_click() -> Awaitable[object]:
            return agent.call("browser_click_element", selector=BUTTON, tabId=tab)

        def tool_evaluate() -> Awaitable[object]:
            return agent.call("browser_execute_script", code="1+1", tabId=tab)

        clicks = [pair async for pair in tight(tool_click, click)][WARM_UP:]
        # The debugger's own command checks less: no site, no frame, no result to clean.
        scripts = [pair async for pair in tight(tool_evaluate, evaluate)][WARM_UP:]
    return [_row("click", clicks, MOST), _row("evaluate 1+1", scripts, None)]


async def _forwarded(raw: Side, method: str, params: dict[str, Any]) -> None:
    answer = await raw.ask(method, method, params)
    if "result" not in answer:
        raise RuntimeError(answer)


def _row(what: str, times: list[tuple[float, float]], most: float | None) -> Row:
    ours, bare = (median(column) for column in zip(*times, strict=True))
    note = f"{ours:.2f} ms against {bare:.2f} ms"
    return Row(f"{what} through the tunnel, against a forwarded one", ours / bare, "×", most, note)
