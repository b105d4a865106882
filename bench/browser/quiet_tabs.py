"""What ten animated tabs of an agent cost when it leaves them alone, as a share of a core."""

import asyncio
import time
from collections.abc import Iterator
from urllib.parse import quote

import uvloop

from bench.browser.browser_setup import BrowserSetup, browser_setup
from bench.processes import group_cpu_seconds
from bench.rows import Row
from tests.support.eventually import eventually

TABS = 10
SECONDS = 10.0
SETTLE_SECONDS = 3.0
LIMIT = 5.0
ANIMATED = """<title>awake</title><canvas width=300 height=300></canvas>
<div style="width: 50px; height: 50px; background: red"></div><script>
const box = document.querySelector("div");
const draw = (now) => {
  const pen = document.querySelector("canvas").getContext("2d");
  pen.fillStyle = `hsl(${now / 10} 50% 50%)`;
  pen.fillRect(now % 300, now / 7 % 300, 20, 20);
  box.style.transform = `rotate(${now / 10}deg)`;
  requestAnimationFrame(draw);
};
requestAnimationFrame(draw);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) document.title = "asleep";
});
</script>"""


def measure() -> Iterator[Row]:
    yield from uvloop.run(_measure())


async def _measure() -> list[Row]:
    async with browser_setup() as ready:
        nothing = await _share(ready)
        untouched = await _untouched(ready)
        awake, quiet = await _of_agent(ready)
    note = f"untouched {untouched:.1f}%, no tabs {nothing:.1f}%, during use {awake:.0f}%"
    return [Row("ten quiet animated tabs, of a core", quiet, "%", LIMIT, note)]


async def _untouched(ready: BrowserSetup) -> float:
    tabs = [await ready.minimal.ask("open", url=_url(ready)) for _ in range(TABS)]
    share = await _share(ready)
    for tab in tabs:
        await ready.minimal.ask("close", tab=tab)
    return share


async def _of_agent(ready: BrowserSetup) -> tuple[float, float]:
    """While they are awake, and when they are quiet."""
    tabs = {await ready.agent.open(_url(ready)) for _ in range(TABS)}
    before, began = group_cpu_seconds(ready.browser_group), time.monotonic()
    for tab in tabs:
        await ready.agent.call("browser_execute_script", code="1", tabId=tab)
    await asyncio.sleep(1)
    awake = _percent(before, began, ready)

    async def asleep() -> bool:
        result = await ready.agent.call("browser_list_tabs")
        listed = result["structuredContent"]["tabs"]
        return all(tab["title"] == "asleep" for tab in listed if tab["tabId"] in tabs)

    await eventually(asleep, "the tabs to sleep")
    return awake, await _share(ready)


async def _share(ready: BrowserSetup) -> float:
    await asyncio.sleep(SETTLE_SECONDS)
    before, began = group_cpu_seconds(ready.browser_group), time.monotonic()
    await asyncio.sleep(SECONDS)
    return _percent(before, began, ready)


def _percent(before: float, began: float, ready: BrowserSetup) -> float:
    used = group_cpu_seconds(ready.browser_group) - before
    return used / (time.monotonic() - began) * 100


def _url(ready: BrowserSetup) -> str:
    return f"{ready.site.url}/html?body={quote(ANIMATED)}"
