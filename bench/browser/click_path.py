"""Traces one click: the files that it runs through in the server and in the extension."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop

from bench.browser.traced_server import MARK
from bench.caller import Caller
from tests.support.browsers.cdp import Cdp, browser_of
from tests.support.eventually import eventually_sync
from tests.support.product import Product
from tests.support.site import serving

PAGE = f"<button id={MARK} onclick='this.value=1'>Go</button>"
EXTENSION = "chrome-extension://"


@dataclass(frozen=True)
class ClickPath:
    """The files of one click, and the classes that carry the call."""

    python: list[str]
    carriers: list[str]
    extension: list[str]


def click_path() -> ClickPath:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        product = Product(folder / "home")
        with _traced(product, folder / "trace.json") as pid:
            product.wait_browser()
            extension = uvloop.run(_click(product, pid))
            trace = eventually_sync(lambda: _read(folder / "trace.json"), "the trace")
            return ClickPath(trace["files"], trace["carriers"], extension)


@contextmanager
def _traced(product: Product, trace: Path) -> Iterator[int]:
    product.lift_rates()
    flags = ["--port", "0", "--browser", "--headless", "--browser-arg=--remote-debugging-port=0"]
    module = ["-m", "bench.browser.traced_server"]
    command = [sys.executable, *module, str(trace), "start", *flags]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(command, env=product.environment, stdout=quiet, stderr=quiet)
    try:
        yield server.pid
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def _read(file: Path) -> Any:
    return json.loads(file.read_text()) if file.exists() else None


async def _click(product: Product, pid: int) -> list[str]:
    """Click twice: the first click attaches the debugger, the second is traced."""
    with serving() as site:
        agent = await Caller.begin(product.wait_running(), product.secret)
        url = f"{site.url}/html?body={PAGE}"
        await agent.open(url)
        await agent.call("browser_click_element", selector=f"#{MARK}")
        async with browser_of(product.home) as browser:
            sessions = [
                await _attach(browser, target)
                for target in (await browser.worker(), await _page(browser, site.url))
            ]
            for session in sessions:
                await _executed_files(browser, session)
            os.kill(pid, signal.SIGUSR1)
            await agent.call("browser_click_element", selector=f"#{MARK}")
            os.kill(pid, signal.SIGUSR1)
            ran = [await _executed_files(browser, session) for session in sessions]
            return sorted(set().union(*ran))


async def _page(browser: Cdp, url: str) -> str:
    targets = (await browser.send("Target.getTargets"))["targetInfos"]
    found: str = next(t["targetId"] for t in targets if t["url"].startswith(url))
    return found


async def _attach(browser: Cdp, target: str) -> str:
    result = await browser.send("Target.attachToTarget", targetId=target, flatten=True)
    session: str = result["sessionId"]
    await browser.send("Profiler.enable", session)
    await browser.send("Profiler.startPreciseCoverage", session, callCount=True)
    return session


async def _executed_files(browser: Cdp, session: str) -> set[str]:
    """The extension's files in which a function ran since the last call of this."""
    coverage = await browser.send("Profiler.takePreciseCoverage", session)
    return {
        script["url"].split("/", 3)[3]
        for script in coverage["result"]
        if script["url"].startswith(EXTENSION) and any(map(_ran, script["functions"]))
    }


def _ran(function: Any) -> bool:
    """Whether a function ran; the one without a name is the module itself."""
    return bool(function["functionName"] and function["ranges"][0]["count"])
