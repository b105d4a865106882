"""The launcher with the real browser of this machine and both ways to load an extension."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tabhub.browser.launcher.finder import BrowserFailed, InstalledBrowser, find_browser
from tabhub.browser.launcher.process import BrowserProcess
from tabhub.browser.launcher.profile import owner
from tabhub.config.paths import Home
from tests.browser.launcher.processes import living
from tests.support.eventually import PATIENCE, eventually

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-01")]

WORKER = """
fetch("http://127.0.0.1:PORT/worker")
  .then((response) => response.text())
  .then((answer) => answer === "reload" && chrome.runtime.reload());
"""
CONTENT = 'chrome.runtime.sendMessage("page");'
MESSAGES = (
    'chrome.runtime.onMessage.addListener(() => void fetch("http://127.0.0.1:PORT/content"));'
)


class Listener:
    """A server that records requests and sends a fixed response."""

    def __init__(self) -> None:
        self.port = 0
        self.answers: dict[str, list[str]] = {}
        self._calls: asyncio.Queue[str] = asyncio.Queue()
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open[writer] = asyncio.create_task(self._serve(reader, writer))

    async def close(self) -> None:
        """Close every connection: browsers open some that they never use."""
        for writer in self._open:
            writer.close()
        await asyncio.gather(*self._open.values())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await self._answer(await reader.readuntil(b"\r\n\r\n"), writer)
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        path = head.split()[1].decode()
        queued = self.answers.get(path, [])
        body = queued.pop(0) if queued else "ok"
        headers = f"Content-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close"
        writer.write(f"HTTP/1.1 200 OK\r\n{headers}\r\n\r\n{body}".encode())
        await writer.drain()
        writer.close()
        self._calls.put_nowait(path)

    async def requested(self, path: str) -> None:
        """Wait for a request to this path; other paths do not count."""
        await eventually(self._calls.get, until=lambda called: called == path)


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    listening = Listener()
    server = await asyncio.start_server(listening.accept, "127.0.0.1", 0)
    listening.port = server.sockets[0].getsockname()[1]
    yield listening
    server.close()
    await listening.close()


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """A mark in the environment of every process that this test starts."""
    name = f"tabhub-test-{uuid4().hex}"
    monkeypatch.setenv("TABHUB_TEST_MARK", name)
    return name


def write_extension(home: Home, port: int) -> None:
    manifest = {
        "manifest_version": 3,
        "name": "caller",
        "version": "1",
        "host_permissions": ["http://127.0.0.1/*"],
        "background": {"service_worker": "worker.js", "type": "module"},
        "content_scripts": [{"matches": ["http://127.0.0.1/*"], "js": ["content.js"]}],
    }
    (home.managed_extension / "manifest.json").write_text(json.dumps(manifest))
    (home.managed_extension / "worker.js").write_text(
        (MESSAGES + WORKER).replace("PORT", str(port))
    )
    (home.managed_extension / "content.js").write_text(CONTENT)


@pytest.fixture
def home(tmp_path: Path, listener: Listener) -> Home:
    """A home with an extension that calls the listener."""
    home = Home(tmp_path / "home").create()
    write_extension(home, listener.port)
    return home


@pytest.fixture(params=[False, True], ids=["flag", "pipe"])
def browser(request: pytest.FixtureRequest) -> InstalledBrowser:
    """The browser of this machine, with both ways to load an extension: Chromium supports both."""
    return replace(find_browser(), needs_debugging_pipe=request.param)


@asynccontextmanager
async def running(
    browser: InstalledBrowser, home: Home, *urls: str
) -> AsyncIterator[BrowserProcess]:
    process = await BrowserProcess.start(
        browser, home=home, profile=home.profile, headless=True, urls=urls
    )
    try:
        yield process
    finally:
        await process.stop()


async def test_the_extension_is_loaded(
    browser: InstalledBrowser, home: Home, listener: Listener
) -> None:
    async with running(browser, home):
        await listener.requested("/worker")


async def test_a_page_opened_at_the_start_has_the_extension_in_it(
    browser: InstalledBrowser, home: Home, listener: Listener
) -> None:
    async with running(browser, home, f"http://127.0.0.1:{listener.port}/page"):
        await listener.requested("/content")


async def test_an_extension_that_reloads_itself_starts_again(
    browser: InstalledBrowser, home: Home, listener: Listener
) -> None:
    listener.answers["/worker"] = ["reload"]
    async with running(browser, home):
        await listener.requested("/worker")
        await listener.requested("/worker")


async def test_stopping_leaves_no_process_behind(
    browser: InstalledBrowser, home: Home, listener: Listener, mark: str
) -> None:
    async with running(browser, home, f"http://127.0.0.1:{listener.port}/page") as process:
        await listener.requested("/page")
        assert len(living(process.pid, mark)) > 3
    assert living(process.pid, mark) == set()


async def test_the_profile_of_a_running_browser_is_refused_and_not_touched(
    browser: InstalledBrowser, home: Home, listener: Listener
) -> None:
    async with running(browser, home) as first:
        await listener.requested("/worker")
        with pytest.raises(BrowserFailed, match=rf"another browser: .*process {first.pid}\b"):
            async with running(browser, home):
                pass
        assert owner(home.profile) == first.pid
        assert living(first.pid)


async def test_a_profile_whose_browser_was_killed_starts_again(
    browser: InstalledBrowser, home: Home, listener: Listener
) -> None:
    async with running(browser, home) as first:
        await listener.requested("/worker")
        os.killpg(first.pid, signal.SIGKILL)
        await first.wait()
    assert owner(home.profile) == first.pid
    async with running(browser, home) as second:
        await listener.requested("/worker")
        assert owner(home.profile) == second.pid


async def test_a_browser_started_by_pipe_ends_with_the_pipe(
    home: Home, listener: Listener, mark: str
) -> None:
    async with running(replace(find_browser(), needs_debugging_pipe=True), home) as process:
        await listener.requested("/worker")
        assert process._pipe
        process._pipe.close()
        async with asyncio.timeout(PATIENCE):
            await process.wait()


async def test_an_extension_the_browser_refuses_is_an_error_and_ends_it(
    home: Home, mark: str
) -> None:
    (home.managed_extension / "manifest.json").write_text("{}")
    with pytest.raises(BrowserFailed, match=r"refused Extensions\.loadUnpacked"):
        async with running(replace(find_browser(), needs_debugging_pipe=True), home):
            pass
    assert living(None, mark) == set()
