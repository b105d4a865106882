"""Servers in the background: started by bridges or by hand, one at a time, and stopped unused."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tabhub.config.paths import Home
from tests.cli.stdio.pipe import Pipe, alone, bridged
from tests.support.browsers.extension import connected, tab
from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.product import Product

pytestmark = pytest.mark.requirement("OT-09")


@pytest.fixture
def product(home: Home) -> Iterator[Product]:
    """The product; servers that were started in its home are stopped at the end."""
    product_home = Product(home.root)
    yield product_home
    for pid in _servers(home):
        os.kill(pid, signal.SIGTERM)
    eventually_sync(lambda: not _servers(home), "the servers to end")


def _servers(home: Home) -> list[int]:
    """The pids of the servers of a home."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        is_server = b"start" in words and not {b"--stdio", b"--background"} & set(words)
        if is_server and f"TABHUB_HOME={home.root}".encode() in environment:
            pids.append(int(folder.name))
    return pids


def _settings(home: Home, minutes: float) -> None:
    home.config.write_text(json.dumps({"sessions": {"backgroundMinutes": minutes}}))


@asynccontextmanager
async def _initialized(home: Home) -> AsyncIterator[Pipe]:
    async with bridged(home) as pipe:
        assert "result" in await pipe.initialize()
        yield pipe


@pytest.mark.document("OT-stdio-3")
async def test_the_first_message_starts_a_server_without_a_terminal(
    home: Home, product: Product
) -> None:
    async with _initialized(home) as pipe:
        (server,) = _servers(home)
        assert product.status()["pid"] == server
        assert os.getsid(server) == server
        assert await pipe.close() == 0
    assert product.status()["mcpClients"] == 0
    assert product.secret not in home.log.read_text()
    assert "thc_" not in home.log.read_text()


@pytest.mark.document("OT-stdio-3")
@pytest.mark.slow
async def test_ten_bridges_at_once_start_one_server(home: Home, product: Product) -> None:
    async with AsyncExitStack() as stack:
        started = [stack.enter_async_context(bridged(home)) for _ in range(10)]
        pipes = await asyncio.gather(*started)
        answers = await asyncio.gather(*(pipe.initialize() for pipe in pipes))
        assert all("result" in answer for answer in answers)
        assert len(_servers(home)) == 1
        assert product.status()["mcpClients"] == 10


async def test_a_server_stops_after_its_last_client_and_not_before(
    home: Home, product: Product, tmp_path: Path
) -> None:
    _settings(home, 0.02)
    other = Home(tmp_path / "other").create()
    _settings(other, 0.02)
    async with _initialized(home) as pipe, bridged(home) as newer:
        assert "result" in await newer.request("server/discover", alone())
        await pipe.close()
        async with _initialized(other):
            pass
        eventually_sync(lambda: not _servers(other), "the unused server to leave")
        assert len(_servers(home)) == 1
    eventually_sync(lambda: not _servers(home), "the server to leave")
    assert not home.pid.exists()


def test_a_server_in_the_background_is_started_once_and_stays(home: Home, product: Product) -> None:
    _settings(home, 0.01)
    process = product.run("start", "--background", "--port", "0")
    assert process.returncode == 0, process.stderr
    port = product.status()["port"]
    assert process.stdout.startswith(f"tabhub runs on http://127.0.0.1:{port}")
    second_start = product.run("start", "--background")
    assert (second_start.returncode, "already runs" in second_start.stdout) == (0, True)
    assert len(_servers(home)) == 1


def test_options_that_a_running_server_lacks_are_refused_with_its_address(
    home: Home, product: Product
) -> None:
    assert product.run("start", "--background", "--port", "0").returncode == 0
    port = product.status()["port"]
    for flags in (["--port", "1"], ["--sse-port", "1"], ["--dev"], ["--no-auth", "--demo"]):
        refused = product.run("start", "--background", *flags)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert f"already runs on port {port}" in refused.stderr and flags[0] in refused.stderr
    for flags in ([], ["--port", str(port)], ["--port", "0"]):
        assert product.run("start", "--background", *flags).returncode == 0
    assert len(_servers(home)) == 1


def test_a_server_in_the_background_says_how_to_connect_and_whether_it_has_a_browser(
    product: Product,
) -> None:
    output = product.run("start", "--background", "--port", "0").stdout
    command = str(Path(sys.executable).with_name("tabhub"))
    assert f"or {command} browser opens one for agents." in output
    assert f"{command} connect AGENT" in output


@pytest.mark.parametrize("flags", [[], ["--background"]], ids=str)
def test_a_window_without_a_display_is_refused_before_anything_starts(
    product: Product, flags: list[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        product.environment.pop(name, None)
    refused = product.run("start", "--headed", "--browser", "--port", "0", *flags)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("tabhub: --headed needs a display")
    assert refused.stderr.count("\n") == 1
    assert product.run("browser", "--headed").stderr == refused.stderr


async def test_the_server_of_a_bridge_can_be_set_to_stay(
    home: Home, product: Product, tmp_path: Path
) -> None:
    _settings(home, 0.02)
    other = Home(tmp_path / "other").create()
    _settings(other, 0.02)
    async with _initialized(home):
        assert "already runs" in product.run("start", "--background").stdout
    async with _initialized(other):
        pass
    eventually_sync(lambda: not _servers(other), "the other server to leave")
    assert len(_servers(home)) == 1


def test_a_server_that_cannot_start_in_the_background_says_why(
    home: Home, product: Product
) -> None:
    home.policy.write_text("nonsense")
    refused = product.run("start", "--background", "--port", "0")
    assert (refused.returncode, "policy.toml" in refused.stderr) == (1, True)
    assert "Traceback" not in refused.stderr


async def test_a_client_gets_the_reason_for_a_missing_server_and_is_served_later(
    home: Home, product: Product
) -> None:
    home.policy.write_text("nonsense")
    async with bridged(home) as pipe:
        refused = (await pipe.initialize())["error"]
        assert "policy.toml" in refused["message"]
        assert (refused["data"]["reason"], refused["data"]["retryable"]) == (
            "server_unavailable",
            True,
        )
        home.policy.unlink()
        assert "result" in await pipe.initialize()


async def test_a_killed_server_is_replaced_and_the_agent_keeps_its_session(
    home: Home, product: Product
) -> None:
    async with _initialized(home) as pipe:
        (pid,) = _servers(home)
        port = product.status()["port"]
        async with connected(port, secret=product.secret) as extension:
            await extension.sync(tab(1))
            code = {"tabId": 1, "code": "1"}
            params = {"name": "browser_execute_script", "arguments": code}
            call = await pipe.ask("tools/call", params)
            await extension.next("tool.dispatch")
            os.kill(pid, signal.SIGKILL)
            answer = (await pipe.answer(call))["result"]
        error = answer["structuredContent"]["error"]
        assert (answer["isError"], error["reason"]) == (True, "page_may_have_received")
        assert "result" in await pipe.request("tools/list")
        (new_pid,) = _servers(home)
        assert new_pid != pid
        await pipe.next("notifications/tools/list_changed")
        assert product.status()["mcpClients"] == 1


@pytest.mark.document("OT-stdio-4")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_bridge_and_its_session(
    home: Home, product: Product, number: signal.Signals
) -> None:
    async with _initialized(home) as pipe:
        pipe.process.send_signal(number)
        assert await asyncio.wait_for(pipe.process.wait(), PATIENCE) == 0
    assert product.status()["mcpClients"] == 0


async def test_a_bridge_ends_when_its_stdout_is_closed(home: Home, product: Product) -> None:
    reading, writing = os.pipe()
    async with bridged(home, stdout=writing) as pipe:
        os.close(writing)
        os.close(reading)
        await pipe.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
        assert await asyncio.wait_for(pipe.process.wait(), PATIENCE) == 0


@pytest.mark.parametrize(
    "flags",
    [
        ["--stdio", "--background"],
        ["--gateway"],
        ["--toolsets", "core"],
        ["--stdio", "--headless"],
        ["--background", "--headed"],
    ],
    ids=" ".join,
)
def test_contradictory_flags_are_a_usage_error(product: Product, flags: list[str]) -> None:
    refused = product.run("start", "--port", "0", *flags)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_a_toolset_that_does_not_exist_is_refused_before_the_first_message(
    home: Home, product: Product
) -> None:
    for toolsets in ("nope", "core,nope", ""):
        refused = product.run("start", "--stdio", "--toolsets", toolsets)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith("tabhub: There is no toolset")
    assert _servers(home) == []


async def test_a_bridge_to_a_running_server_says_why_it_starts_no_browser_and_works_without(
    home: Home, product: Product
) -> None:
    assert product.run("start", "--background", "--port", "0").returncode == 0
    missing = {"TABHUB_BROWSER": "/no/such/browser"}
    flags, stderr = ("--browser", "--headless"), asyncio.subprocess.PIPE
    async with bridged(home, *flags, stderr=stderr, environment=missing) as pipe:
        assert "result" in await pipe.initialize()
        assert await pipe.close() == 0
        assert pipe.process.stderr is not None
        (why,) = (await pipe.process.stderr.read()).decode().splitlines()
    assert "a browser could not be started" in why and "/no/such/browser" in why
