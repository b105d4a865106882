"""`--sse-port` and the other settings for the second listener, on the whole product."""

import json
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.agents.mcp.sse_clients import streaming
from tests.support.eventually import eventually_sync
from tests.support.http_client import free_port
from tests.support.product import Product
from tests.support.serving import client

pytestmark = pytest.mark.slow

TOKEN = "token-from-the-environment"


def configure(product: Product, **config: Any) -> None:
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text(json.dumps(config))


@pytest.mark.document("CB-base-2", "CB-bridge-4")
@pytest.mark.requirement("CB-05")
async def test_the_flag_opens_a_second_port_and_status_reports_it(product: Product) -> None:
    with product.running("start", "--port", "0", "--sse-port", "0"):
        port = product.wait_running()
        second_port = product.status()["ssePort"]
        assert second_port not in (None, 0, port)
        assert f"http://127.0.0.1:{second_port}/sse" in product.output
        for listener in (second_port, port):
            async with client(listener, product.secret) as http, streaming(http) as agent:
                assert len((await agent.request("tools/list"))["result"]["tools"]) == 23
    for listener in (second_port, port):
        with pytest.raises(httpx.ConnectError):
            async with client(listener) as http:
                await http.get("/health")


@pytest.mark.document("CB-env-1", "CB-env-2", "CB-security-2")
@pytest.mark.requirement("CB-05")
async def test_the_environment_of_old_clients_names_port_and_token(product: Product) -> None:
    product.environment |= {
        "CLAUDE_BROWSER_MCP_PORT": str(free_port()),
        "CLAUDE_BROWSER_AUTH_TOKEN": TOKEN,
    }
    with product.running("start", "--port", "0"):
        product.wait_running()
        port = int(product.environment["CLAUDE_BROWSER_MCP_PORT"])
        assert product.status()["ssePort"] == port
        async with client(port, TOKEN) as http, streaming(http) as agent:
            assert (await agent.initialize())["result"]["protocolVersion"] == "2024-11-05"
        async with client(port, "another") as http:
            assert (await http.get("/sse")).status_code == 401
        # A reload of the file does not override the environment.
        assert product.run("client", "add", "guest").returncode == 0
        assert product.run("client", "revoke", "guest").returncode == 0
        async with client(port, TOKEN) as http:
            assert (await http.get("/health")).json()["client"] == "sse"
    written = [path for path in product.home.rglob("*") if path.is_file()]
    assert written and not any(TOKEN.encode() in path.read_bytes() for path in written)
    assert TOKEN not in product.output


@pytest.mark.document("CB-config-2")
async def test_the_settings_name_the_port_too_and_the_flag_overrides_them(product: Product) -> None:
    configure(product, mcpServer={"port": free_port()})
    with product.running("start", "--port", "0", "--sse-port", "0"):
        product.wait_running()
        configured = json.loads((product.home / "config.json").read_text())["mcpServer"]["port"]
        assert product.status()["ssePort"] not in (None, configured)


def test_a_port_in_use_is_named_with_what_to_do(product: Product) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        process = product.run("start", "--port", "0", "--sse-port", port)
    assert process.returncode != 0
    assert f"Port {port} is used by another program" in process.stderr
    assert "Use another: --sse-port " in process.stderr
    assert "Traceback" not in process.stderr and not (product.home / "server.pid").exists()


def test_the_same_port_twice_is_refused(product: Product) -> None:
    port = str(free_port())
    process = product.run("start", "--port", port, "--sse-port", port)
    assert process.returncode != 0
    assert port in process.stderr and "Traceback" not in process.stderr


@pytest.mark.document("CB-config-3", "CB-security-1")
@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"mcpServer": {"port": 70000}}, "mcpServer.port"),
        ({"mcpServer": {"host": "0.0.0.0"}}, "mcpServer.host"),
        ({"mcpServer": {"corsOrigins": ["*"]}}, "corsOrigins"),
        ({"mcpServer": {"corsOrigins": ["null"]}}, "corsOrigins"),
        ({"mcpServer": {"corsOrigins": ["http://*"]}}, "corsOrigins"),
        ({"mcpServer": {"corsOrigins": ["http://*.example.com"]}}, "corsOrigins"),
        ({"mcpServer": {"corsOrigins": ["https://a.example/path"]}}, "corsOrigins"),
        ({"mcpServer": {"corsOrigins": "https://a.example"}}, "corsOrigins"),
        ({"rates": {"adminPerMinute": -1}}, "adminPerMinute"),
        ({"rates": {"sessionsPerMinute": "many"}}, "sessionsPerMinute"),
    ],
)
def test_invalid_settings_are_refused_at_the_start(
    product: Product, config: dict[str, Any], message: str
) -> None:
    configure(product, **config)
    process = product.run("start", "--port", "0")
    assert process.returncode != 0
    assert message in process.stderr and "Traceback" not in process.stderr


def test_an_invalid_port_in_the_environment_is_refused(product: Product) -> None:
    product.environment["CLAUDE_BROWSER_MCP_PORT"] = "lots"
    process = product.run("start", "--port", "0")
    assert process.returncode != 0 and "CLAUDE_BROWSER_MCP_PORT=lots" in process.stderr


def test_a_disabled_sse_has_no_second_port(product: Product) -> None:
    configure(product, mcpServer={"enabled": False, "port": free_port()})
    with product.running("start", "--port", "0"):
        product.wait_running()
        assert product.status()["ssePort"] is None


@pytest.mark.document("CB-flow-4")
@pytest.mark.requirement("CB-01")
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_curl_can_use_sse(product: Product, tmp_path: Path) -> None:
    with product.running("start", "--port", "0", "--sse-port", "0"):
        product.wait_running()
        base = f"http://127.0.0.1:{product.status()['ssePort']}"
        head = tmp_path / "head"
        head.write_text(f"Authorization: Bearer {product.secret}")
        stream = tmp_path / "stream"
        command = ["curl", "-sN", "-H", f"@{head}"]
        with stream.open("wb") as out:
            reading = subprocess.Popen([*command, "-i", f"{base}/sse"], stdout=out)
        try:
            path = eventually_sync(lambda: _data(stream, "endpoint"), "the endpoint")[0]
            body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
            json_kind = ["-H", "content-type: application/json", "-d", body]
            posted = subprocess.run(
                [*command, "-w", " %{http_code}", *json_kind, base + path],
                capture_output=True,
                text=True,
                check=True,
            )
            assert posted.stdout == '{"status":"accepted"} 202'
            (answer,) = eventually_sync(lambda: _data(stream, "message"), "the answer")
            assert json.loads(answer) == {"jsonrpc": "2.0", "id": 1, "result": {}}
            head_told = stream.read_text().lower()
            assert "cache-control: no-cache" in head_told and "x-session-id: session_" in head_told
        finally:
            reading.kill()
            reading.wait()


def _data(stream: Path, kind: str) -> list[str]:
    """The data of all received events of one kind."""
    events = stream.read_text().replace("\r\n", "\n").split("\n\n")
    begin = f"event: {kind}\ndata: "
    return [event.removeprefix(begin) for event in events[:-1] if event.startswith(begin)]
