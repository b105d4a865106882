"""All servers to compare, each with a browser of the same build, on the same site."""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from bench.browser.browser_setup import browser_setup
from bench.peers.compared_server import ComparedServer
from bench.peers.devtools import DevTools, SlimDevTools
from bench.peers.ours import BareExtension, Tabhub
from bench.peers.playwright import Playwright
from bench.peers.stdio import StdioServer, serving
from tabhub.browser.launcher.finder import find_browser
from tests.support.site import Site

PROGRAMS = Path(__file__).parent.parent / "npm" / "node_modules" / ".bin"
QUIET = ("--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")


@asynccontextmanager
async def all_servers() -> AsyncIterator[tuple[Site, list[ComparedServer]]]:
    async with AsyncExitStack() as stack:
        ready = await stack.enter_async_context(browser_setup())
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        page = ready.site.page("form")

        async def started(*command: str) -> StdioServer:
            return await stack.enter_async_context(serving(command, folder))

        yield (
            ready.site,
            [
                Tabhub(ready.agent, await ready.agent.open(page)),
                BareExtension(ready.minimal, await ready.minimal.ask("open", url=page)),
                Playwright(await started(*playwright_command()), "playwright"),
                Playwright(
                    await started(*playwright_command("--timeout-settle", "0")), "playwright 0"
                ),
                DevTools(await started(*devtools_command())),
                SlimDevTools(await started(*devtools_command("--slim"))),
            ],
        )


def playwright_command(*more: str) -> Sequence[str]:
    program = str(PROGRAMS / "playwright-mcp")
    browser = ("--browser", "chrome", "--executable-path", str(find_browser().path))
    return (program, "--headless", "--isolated", "--no-sandbox", *browser, *more)


def devtools_command(*more: str) -> Sequence[str]:
    program = str(PROGRAMS / "chrome-devtools-mcp")
    browser = ("--executablePath", str(find_browser().path))
    flags = (f"--chromeArg={flag}" for flag in ("--no-sandbox", *QUIET))
    quiet = ("--no-usage-statistics", "--no-performance-crux")
    return (program, "--headless", "--isolated", *browser, *flags, *quiet, *more)
