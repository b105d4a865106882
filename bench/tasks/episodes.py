"""Episodes: one task by one side, from a reset application and a browser of its own."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.caller import Caller
from bench.peers.all_servers import devtools_command, playwright_command
from bench.peers.stdio import StdioServer, serving
from bench.tasks.applications import Application
from bench.tasks.sides import Broken, Cost, DevTools, Ours, Playwright, Side
from bench.tasks.task import Task
from tests.support.browsers.managed import rig
from tests.support.eventually import eventually

WINDOW = "--browser-arg=--window-size=1280,807"
"""A viewport of 1280 × 720, as the peers have it."""
EPISODE_SECONDS = 120
STORE_SECONDS = 5
LEAN = ("--codegen", "none")
"""Without the code for each call, which playwright-mcp would otherwise add to each result."""


@dataclass(frozen=True)
class Episode:
    """How an episode ended; `why` is empty if it was solved."""

    task: str
    side: str
    cost: Cost
    why: str


async def play(task: Task, application: Application, name: str) -> Episode:
    """Play a task once. The start page has been open before, so that its files are cached."""
    application.reset()
    async with SIDES[name](application.start_page) as side:
        side.told(task.goal)
        begin = time.perf_counter()
        why = await _why_not(task, application, side, begin)
    return Episode(task.name, name, side.cost, why)


async def _why_not(task: Task, application: Application, side: Side, begin: float) -> str:
    policy = {"tabhub": task.ours, "playwright": task.playwright, "devtools": task.devtools}
    try:
        async with asyncio.timeout(EPISODE_SECONDS):
            answer = await policy[side.name](side)  # type: ignore[operator]
    except (Broken, LookupError, TimeoutError) as error:
        return str(error) or type(error).__name__
    finally:
        side.cost.seconds = time.perf_counter() - begin
    return await _unmet(task, application, answer)


async def _unmet(task: Task, application: Application, answer: str) -> str:
    """What is missing, once the application has had time to store what it was told."""
    try:
        await eventually(
            lambda: task.check(application, answer) or None, task.goal, seconds=STORE_SECONDS
        )
    except AssertionError:
        return f"not done; the answer was: {answer}"
    return ""


@asynccontextmanager
async def _ours(start_page: str) -> AsyncIterator[Side]:
    with tempfile.TemporaryDirectory() as folder:
        async with rig(Path(folder), {}, WINDOW) as managed:
            caller = await Caller.sessionless(managed.port, managed.product.secret)
            await caller.call("browser_close_tab", tabId=await caller.open(start_page))
            yield Ours(start_page, caller)


@asynccontextmanager
async def _playwright(start_page: str) -> AsyncIterator[Side]:
    async with _peer(*playwright_command(*LEAN)) as server:
        await server.call("browser_navigate", url=start_page)
        await server.call("browser_navigate", url="about:blank")
        yield Playwright(start_page, server)


@asynccontextmanager
async def _devtools(start_page: str) -> AsyncIterator[Side]:
    async with _peer(*devtools_command("--viewport", "1280x720")) as server:
        for url in (start_page, "about:blank"):
            await server.call("navigate_page", pageId=1, type="url", url=url)
        yield DevTools(start_page, server)


@asynccontextmanager
async def _peer(*command: str) -> AsyncIterator[StdioServer]:
    with tempfile.TemporaryDirectory() as folder:
        async with serving(command, folder) as server:
            yield server


SIDES = {"tabhub": _ours, "playwright": _playwright, "devtools": _devtools}
