"""`tabhub logs`: the last lines of the log, and new ones."""

import os
import signal
from pathlib import Path

import httpx
import pytest

from tabhub import __version__
from tests.support.browsers.extension import connected, tab
from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.product import Product

PLUGIN = "2026-11-15 10:00:00,000 INFO tabhub.plugins.slack: hello"


@pytest.fixture
def product(tmp_path: Path) -> Product:
    product = Product(tmp_path / "home")
    product.home.mkdir(mode=0o700)
    return product


def log(product: Product, *lines: str) -> None:
    with (product.home / "server.log").open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


def shows(product: Product, line: str) -> bool:
    return eventually_sync(lambda: line in product.output.splitlines(), f"the line {line!r}")


def test_the_last_lines_are_shown_of_both_files(product: Product) -> None:
    (product.home / "server.log.1").write_text("one\ntwo\n")
    log(product, "three", "four")
    assert product.run("logs").stdout == "one\ntwo\nthree\nfour\n"
    assert product.run("logs", "--lines", "3").stdout == "two\nthree\nfour\n"
    assert product.run("logs", "-n", "0").stdout == ""


def test_a_missing_log_is_reported(product: Product) -> None:
    refused = product.run("logs")
    assert (refused.returncode, "server.log" in refused.stderr) == (1, True)


@pytest.mark.requirement("OT-18")
def test_lines_are_followed_over_rotations_and_restarts_until_ctrl_c(product: Product) -> None:
    with product.running("logs", "-f", "-n", "1") as process:
        log(product, "born late")
        assert shows(product, "born late")
        log(product, "before")
        assert shows(product, "before")
        os.replace(product.home / "server.log", product.home / "server.log.1")
        with (product.home / "server.log.1").open("a") as file:
            file.write("the last of the old\n")
        log(product, "the first of the new")
        assert shows(product, "the first of the new")
        (product.home / "server.log").unlink()
        log(product, "after a loss")
        assert shows(product, "after a loss")
        (product.home / "server.log").write_text("cut\n")
        assert shows(product, "cut")
        with (product.home / "server.log").open("a") as file:
            file.write("half a ")
            file.flush()
            log(product, "line")
        assert shows(product, "half a line")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    assert product.output.splitlines() == [
        "born late",
        "before",
        "the last of the old",
        "the first of the new",
        "after a loss",
        "cut",
        "half a line",
    ]


def test_the_servers_own_lines_arrive(product: Product) -> None:
    product.environment["TABHUB_DANGEROUSLY_SKIP_PERMISSIONS"] = "1"
    with product.running("start", "--port", "0"):
        product.wait_running()
        process = product.run("logs")
    assert "WARNING tabhub.store.active_rules: Permissions are SKIPPED" in process.stdout


def test_lines_of_a_plugin_are_selected_with_their_continuation_lines(product: Product) -> None:
    other = PLUGIN.replace("slack", "slacker")
    log(product, other, "  more of the other", PLUGIN, "  Traceback of it", other)
    process = product.run("logs", "--plugin", "slack")
    assert process.stdout == f"{PLUGIN}\n  Traceback of it\n"
    assert process.stderr == ""


async def test_the_log_has_the_ports_and_the_connections_of_clients(product: Product) -> None:
    with product.running("start", "--port", "0", "--sse-port", "0"):
        port = product.wait_running()
        second = product.status()["ssePort"]
        async with connected(port, secret=product.secret) as extension:
            await extension.sync(tab(1), kind="managed", name="Chro\nmium", version="150")
            await extension.sync(tab(1), kind="managed", name="Chro\nmium", version="150")
            async with product.client(port) as http:
                await _mcp_session(http)
                for _ in range(2):
                    await http.post("/tools/permissions_check/call", json={})
        eventually_sync(
            lambda: "has gone" in product.run("logs").stdout, "the browser to have gone"
        )
    lines = (product.home / "server.log").read_text().splitlines()
    messages = [line.split(": ", 1)[1] for line in lines]
    assert messages == [
        f"tabhub {__version__} listens on port {port} and {second}",
        "browser Chromium 150 (managed) has connected",
        "a session of evil (client main) has begun",
        "a session of evil (client main) has ended",
        "agent python-httpx (client main) connected",
        "browser Chromium 150 (managed) has gone",
        "stopped",
    ]


async def _mcp_session(http: httpx.AsyncClient) -> None:
    """Begin a session, make a call and end the session."""
    info = {"name": "ev\r\nil", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    headers = {"Accept": "application/json, text/event-stream"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    answer = await http.post("/mcp", json=message, headers=headers)
    headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
    call = {"name": "permissions_check", "arguments": {}}
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    assert (await http.post("/mcp", json=message, headers=headers)).status_code == 200
    assert (await http.delete("/mcp", headers=headers)).is_success
