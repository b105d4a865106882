"""A tool of a plugin in a real page: through the whole product, against one bare script.

Both sides run a script in the page's own world by `chrome.scripting.executeScript`; a call of the
plugin also asks its `isReady` first. And how long a plugin that is turned off stays in the page.
"""

import asyncio
import json
from collections.abc import Awaitable, Iterator
from pathlib import Path
from statistics import median

import httpx
import uvloop

from bench.browser.browser_setup import BrowserSetup, browser_setup
from bench.browser.evaluate import BLOCK, WARM_UP, tight
from bench.caller import milliseconds
from bench.rows import Row
from tabhub.config import keys
from tabhub.config.paths import Home
from tabhub.plugins.package import read_package
from tabhub.plugins.review import Reviews

NOTES = Path(__file__).parents[2] / "tests" / "plugins" / "fixtures" / "notes"
LIMIT = 2
OFF_MS = 100
TURNS = 10
POLL_SECONDS = 0.001
HAS_ADAPTER = "Boolean(globalThis.__openTabs?.adapters?.notes)"


def measure() -> Iterator[Row]:
    yield from uvloop.run(_measure())


async def _measure() -> list[Row]:
    async with browser_setup(_reviewed) as ready:
        tab = await ready.agent.open(f"{ready.site.url}/html?body=notes")
        await _until(ready, tab, True)

        def ours() -> Awaitable[object]:
            return ready.agent.call("notes_echo", text="a", tabId=tab)

        def empty() -> Awaitable[object]:
            return ready.agent.call("browser_get_tab_info", tabId=tab)

        def bare() -> Awaitable[object]:
            return ready.minimal.evaluate(tab)

        times = [pair async for pair in tight(ours, bare)][WARM_UP:]
        others = [pair async for pair in tight(empty, bare)][WARM_UP:]
        # A client takes long to make, so there is one for all.
        async with _person(ready) as person:
            offs = [await _turned_off(ready, person, tab) for _ in range(TURNS)]
    (call, floor), (info, _) = _medians(times), _medians(others)
    note = f"{call:.2f} ms against {floor:.2f} ms; browser_get_tab_info takes {info:.2f} ms"
    return [
        Row("a tool of a plugin, against a bare script", _ratio(times), "×", LIMIT, note),
        Row("a plugin is turned off: torn down in the page", median(offs), " ms", OFF_MS),
    ]


def _medians(times: list[tuple[float, float]]) -> tuple[float, float]:
    first, second = (median(column) for column in zip(*times, strict=True))
    return first, second


def _ratio(times: list[tuple[float, float]]) -> float:
    """The median over blocks, each of which is shorter than most of what disturbs a machine."""
    blocks = (_medians(times[begin : begin + BLOCK]) for begin in range(0, len(times), BLOCK))
    return median(ours / bare for ours, bare in blocks)


def _reviewed(home: Home) -> None:
    (home.root / "config.json").write_text(json.dumps({"localPlugins": [str(NOTES)]}))
    Reviews(home, lambda name, word: None).approve(read_package(NOTES, "local"))
    keys.set_level(home, "plugins", "notes", "auto")


def _person(ready: BrowserSetup) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {ready.product.secret}"}
    base = f"http://127.0.0.1:{ready.product.wait_running()}"
    return httpx.AsyncClient(base_url=base, headers=headers)


async def _turned_off(ready: BrowserSetup, person: httpx.AsyncClient, tab: int) -> float:
    await _set_level(ready, person, "auto")
    await _until(ready, tab, True)

    async def off() -> None:
        await _set_level(ready, person, "off")
        await _until(ready, tab, False)

    return await milliseconds(off)


async def _set_level(ready: BrowserSetup, person: httpx.AsyncClient, level: str) -> None:
    keys.set_level(Home(ready.product.home), "plugins", "notes", level)
    (await person.post("/reload")).raise_for_status()


async def _until(ready: BrowserSetup, tab: int, is_there: bool) -> None:
    while await ready.minimal.ask("evaluate", tab=tab, code=HAS_ADAPTER) is not is_there:
        await asyncio.sleep(POLL_SECONDS)
