"""Dev mode: from the write of a plugin's file to the client's list, and to an open page."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import uvloop

from bench.rows import Row
from tabhub.config.settings import Settings
from tabhub.plugins.discovery import Plugins
from tests.plugins.fixture_plugin import copied
from tests.real.looking import html
from tests.support.agent import Agent
from tests.support.browsers.managed import Rig, rig
from tests.support.site import serving

ROUNDS = 15
MOST_MILLISECONDS = 500
FOLDERS = 20
LOOKS = 200


class _Linked(NamedTuple):
    """A server in dev mode with a linked plugin, and a page in which it runs."""

    folder: Path
    made: Rig
    agent: Agent
    page: str


def measure() -> Iterator[Row]:
    to_list, to_page = uvloop.run(_measure())
    note = f"{ROUNDS} changes; at most {{:.0f}} ms"
    what = "a changed plugin, from the write to "
    limit = MOST_MILLISECONDS
    yield Row(f"{what}the list", median(to_list), " ms", limit, note.format(max(to_list)))
    yield Row(f"{what}the page", median(to_page), " ms", limit, note.format(max(to_page)))
    yield _looking()


async def _measure() -> tuple[list[float], list[float]]:
    to_list, to_page = [], []
    async with _linked() as linked:
        for number in range(1, ROUNDS + 1):
            _write(linked.folder, number)
            begin = time.perf_counter()
            listed = _milliseconds(begin, partial(_is_listed, linked, number))
            shown = _milliseconds(begin, partial(_is_in_page, linked, number))
            times = await asyncio.gather(listed, shown)
            to_list.append(times[0])
            to_page.append(times[1])
    return to_list, to_page


@asynccontextmanager
async def _linked() -> AsyncIterator[_Linked]:
    with tempfile.TemporaryDirectory() as name, serving() as site:
        folder = copied(Path(name) / "notes")
        config = {"localPlugins": [str(folder)], "permissions": {"plugins": {"notes": "auto"}}}
        async with rig(Path(name), config, "--dev") as made, made.agent("ann") as agent:
            page = html(site, "notes")
            await agent.call("browser_open_tab", url=page)
            linked = _Linked(folder, made, agent, page)
            await _milliseconds(0, lambda: _evaluated(linked, "window.adapterRuns ?? 0"))
            yield linked


def _write(folder: Path, number: int) -> None:
    adapter, tools = folder / "dist" / "adapter.iife.js", folder / "dist" / "tools.json"
    source = adapter.read_text().partition("\nglobalThis.changes = ")[0]
    adapter.write_text(f"{source}\nglobalThis.changes = {number};\n")
    tools.write_text(tools.read_text().replace(_mark(number - 1), _mark(number)))


def _mark(number: int) -> str:
    return f"Never answer {number}." if number else "Never answer."


async def _milliseconds(begin: float, look: Callable[[], Awaitable[object]]) -> float:
    while not await look():
        await asyncio.sleep(0.005)
    return (time.perf_counter() - begin) * 1000


async def _is_listed(linked: _Linked, number: int) -> bool:
    return _mark(number) in (await linked.agent.post("tools/list")).text


async def _is_in_page(linked: _Linked, number: int) -> bool:
    return bool(await _evaluated(linked, f"window.changes === {number}"))


async def _evaluated(linked: _Linked, code: str) -> object:
    cdp = linked.made.cdp
    found: object = await cdp.evaluate(await cdp.page(linked.page), code)
    return found


def _looking() -> Row:
    """What one look at linked folders takes; there are twenty a second."""
    with tempfile.TemporaryDirectory() as name:
        for number in range(FOLDERS):
            copied(Path(name) / f"notes-{number}")
        settings = Settings(local_plugin_dirs=[name])
        plugins = Plugins(None, lambda: settings)
        begin = time.perf_counter()
        for _ in range(LOOKS):
            plugins.linked_stamps()
        took = (time.perf_counter() - begin) * 1000 / LOOKS
    return Row(f"one look at {FOLDERS} linked folders", took, " ms")
