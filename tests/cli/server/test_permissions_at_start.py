"""`tabhub start` and permissions: a faulty policy, skipped permissions, the printed token."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.support.agent import Agent, ToolFailed
from tests.support.eventually import eventually_sync
from tests.support.http_client import free_port
from tests.support.product import Product
from tests.support.serving import client

OFF = '[tools]\npermissions_check = "off"\n'


@pytest.fixture
def product(tmp_path: Path) -> Product:
    product = Product(tmp_path / "home")
    product.home.mkdir(mode=0o700)
    return product


def wait_up(product: Product) -> int:
    """The port, once everything has been printed."""
    eventually_sync(lambda: "tabhub is up" in product.output, "the server to be up")
    return product.wait_running()


@pytest.mark.parametrize(
    ("config", "policy", "words"),
    [
        ("{}", '[tools]\n\na = "perhaps"\n', "policy.toml:3: "),
        ("{}", 'elicitation = "yes"\n', "policy.toml:1: "),
        ('{"policyFile": "nowhere.toml"}', "", "nowhere.toml: there is no such policy file"),
        ('{"permissions": {"domains": {"a b": "off"}}}', "", "a b"),
    ],
)
def test_a_fault_in_the_rules_is_reported_in_one_line_and_nothing_starts(
    product: Product, config: str, policy: str, words: str
) -> None:
    (product.home / "config.json").write_text(config)
    (product.home / "policy.toml").write_text(policy)
    port = free_port()
    refused = product.run("start", "--port", str(port))
    assert refused.returncode == 2
    assert words in refused.stderr and refused.stderr.count("\n") == 1
    assert refused.stdout == ""
    assert not (product.home / "server.pid").exists()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


@pytest.mark.document("OT-health-9", "OT-health-10")
@pytest.mark.requirement("OT-38")
@pytest.mark.parametrize("name", ["TABHUB", "OPENTABS"])
async def test_skipping_permissions_is_announced_and_does_not_change_off(
    product: Product, name: str
) -> None:
    (product.home / "policy.toml").write_text(OFF)
    product.environment[f"{name}_DANGEROUSLY_SKIP_PERMISSIONS"] = "1"
    with product.running("start", "--port", "0"):
        port = wait_up(product)
        assert "WARNING: permissions are skipped" in product.output
        assert product.status()["skipPermissions"] is True
        async with product.client(port) as http:
            with pytest.raises(ToolFailed) as failed:
                await Agent(http).call("permissions_check")
    assert failed.value.reason == "permission_off"


def test_the_warning_goes_to_stderr_because_stdout_is_data(product: Product) -> None:
    product.environment["TABHUB_DANGEROUSLY_SKIP_PERMISSIONS"] = "1"
    command = [sys.executable, "-u", "-m", "tabhub", "start", "--port", "0"]
    with subprocess.Popen(
        command, env=product.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        process.terminate()
    assert b"permissions are skipped" in line


@pytest.mark.document("OT-clients-6")
async def test_the_printed_token_is_not_the_secret_stays_the_same_and_opens_only_mcp(
    product: Product,
) -> None:
    printed = []
    for _ in range(2):
        with product.running("start", "--port", "0"):
            port = wait_up(product)
            shown = product.run("start", "--show-config").stdout
            async with client(port, _token(shown)) as http:
                await _assert_opens_only_mcp(http)
        assert "WARNING" not in product.output
        assert product.secret not in product.output + shown
        printed.append(_token(shown))
        Path(f"{product.home}.out").unlink()
    assert printed[0] == printed[1]


def _token(text: str) -> str:
    """The token, which is the same in all blocks."""
    (token,) = set[str](re.findall(r"Bearer ([^\s\"]+)", text))
    return token


async def _assert_opens_only_mcp(http: httpx.AsyncClient) -> None:
    assert (await Agent(http).call("permissions_check"))["tools"]
    assert (await http.get("/ws-info")).status_code == 403
    assert (await http.post("/reload")).status_code == 403
