"""The panel: how soon it has content, and the longest task when there is much to show."""

import json
import statistics
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import uvloop

from bench.rows import Row
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import rig
from tests.support.browsers.panel import Panel, panel_of
from tests.support.browsers.sample_panel import sample_panel
from tests.support.browsers.unpacked import browser_with

ROUNDS = 9
CONTENT_MS = 200
TASK_MS = 50
CALLS = 500
EVERY_MS = 20
TOOLS = 1000
AUDIT_ROWS = 10_000
PAGES = 20
CONTENT = "performance.getEntriesByName('content')[0]?.startTime"
WATCH = """globalThis.tasks = [];
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) tasks.push(duration);
}).observe({ type: "longtask", buffered: true }); 1"""
LONGEST = "new Promise((done) => setTimeout(() => done(Math.max(0, ...tasks)), 500))"
STREAM = f"""(async () => {{
  const start = (id) => ({{ id: `s${{id}}`, tool: "t", title: "Read the page", plugin: "browser",
    session: "s1", client: "laptop", agent: "", tabId: 11, startedAt: Date.now() }});
  for (let id = 0; id < {CALLS}; id++) {{
    sample.send("tool.invocationStart", start(id));
    setTimeout(() => sample.send("tool.invocationEnd", {{ ...start(id), outcome: "done",
      reason: null, durationMs: 30, bytes: 900 }}), 30);
    await new Promise((next) => setTimeout(next, {EVERY_MS}));
  }}
}})()"""
SEARCH = """(async () => {
  const input = document.querySelector("#tool-words");
  for (const word of ["b", "br", "bro", "browser", "browser m", "browser more 7", ""]) {
    input.value = word;
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await new Promise((next) => setTimeout(next, 100));
  }
})()"""


def measure() -> Iterator[Row]:
    yield uvloop.run(_content())
    yield from uvloop.run(_tasks())


async def _content() -> Row:
    with tempfile.TemporaryDirectory() as folder:
        async with rig(Path(folder), {}) as here:
            times = [await _opened(here.cdp) for _ in range(ROUNDS)]
    note = f"median of {ROUNDS}, slowest {max(times):.0f} ms"
    return Row("panel with content", statistics.median(times), " ms", CONTENT_MS, note)


async def _opened(cdp: Cdp) -> float:
    async with panel_of(cdp) as panel:
        found: float = await panel.until(CONTENT, "content")
        return found


async def _tasks() -> list[Row]:
    sample: dict[str, Any] = {"tools": TOOLS, "auditRows": AUDIT_ROWS, "approvals": True}
    with tempfile.TemporaryDirectory() as folder:
        async with browser_with(Path(folder) / "browser") as cdp:
            # A browser that has just started is at work itself, and compiles every script.
            async with sample_panel(cdp, **sample):
                pass
            return [
                await _longest(cdp, "now", "50 calls/s in the panel", _stream, sample),
                await _longest(cdp, "tools", "1,000 tools in the panel", _search, sample),
                await _longest(cdp, "audit", "10,000 audit rows in the panel", _turn, sample),
            ]


async def _longest(
    cdp: Cdp,
    view: str,
    what: str,
    act: Callable[[Panel], Awaitable[None]],
    sample: dict[str, Any],
) -> Row:
    """The longest task while the panel opens and something happens; 0 if none took 50 ms: the
    browser reports only longer ones."""
    async with sample_panel(cdp, view, **sample) as panel:
        await panel.value(WATCH)
        await act(panel)
        return Row(f"{what}: longest task", await panel.value(LONGEST), " ms", TASK_MS)


async def _stream(panel: Panel) -> None:
    await panel.value(STREAM)


async def _search(panel: Panel) -> None:
    await panel.click(".fold")
    await panel.value(SEARCH)


async def _turn(panel: Panel) -> None:
    for page in range(1, PAGES):
        await panel.click("[data-action=audit-older]")
        shown = json.dumps(f"[data-row=old-{page * 50}]")
        await panel.until(f"!!document.querySelector({shown})", "the next page")
