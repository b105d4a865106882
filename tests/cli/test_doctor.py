"""`tabhub doctor`: faults are made, and it finds each of them."""

import asyncio
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from tabhub.config import secret
from tabhub.config.home import Home
from tabhub.config.secret import Auth
from tests.support.extension import connected, tab
from tests.support.product import Product
from tests.support.serving import SECRET, served
from tests.support.terminal import in_terminal

Check = dict[str, Any]
MANIFEST = Path("extension/manifest.json")


@pytest.fixture
def product(tmp_path: Path) -> Product:
    """Set up once and healthy, with a browser that only says its version."""
    product = Product(tmp_path / "home")
    browser = tmp_path / "chrome"
    browser.write_text("#!/bin/sh\necho Chromium 150.0.1.2\n")
    browser.chmod(0o755)
    more = {"TABHUB_BROWSER": str(browser), "TABHUB_PORT": str(free_port()), "HOME": str(tmp_path)}
    product.environment |= more
    product.run("extension", "path")
    return product


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def examined(product: Product, *flags: str) -> tuple[int, list[Check]]:
    done = product.run("doctor", "--json", *flags)
    told = json.loads(done.stdout)
    assert told["ok"] == (done.returncode == 0)
    assert product.secret not in done.stdout + done.stderr
    return done.returncode, told["checks"]


def faults(product: Product, level: str = "fail") -> dict[str, Check]:
    code, checks = examined(product)
    found = {check["name"]: check for check in checks if check["level"] == level}
    assert code == (1 if any(check["level"] == "fail" for check in checks) else 0)
    return found


@pytest.mark.requirement("OT-18")
def test_a_healthy_home_has_no_fault_and_every_warning_says_what_to_do(product: Product) -> None:
    assert faults(product) == {}
    assert faults(product, "warn").keys() == {"server"}
    with product.running("start"):
        product.wait_running()
        code, checks = examined(product)
    assert code == 0
    assert all(check.get("do") for check in checks if check["level"] != "ok")
    named = {check["name"]: check["says"] for check in checks}
    assert "runs (pid" in named["server"]
    assert "No browser is connected" in named["connected"]


def test_a_new_home_is_no_fault_and_nothing_is_made(product: Product, tmp_path: Path) -> None:
    product.environment["TABHUB_HOME"] = str(tmp_path / "new")
    done = product.run("doctor")
    assert (done.returncode, (tmp_path / "new").exists()) == (0, False)
    assert "tabhub start" in done.stdout


@pytest.mark.requirement("OT-18")
def test_a_secret_that_others_can_read_is_found_and_mended(product: Product) -> None:
    auth = product.home / "extension" / "auth.json"
    auth.chmod(0o644)
    found = faults(product)["secret"]
    assert found["do"] == f"chmod 600 {auth}"
    assert examined(product, "--fix")[0] == 0
    assert auth.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", '{"secret": "ab", "port": 1}', '{"secret": 5}'])
def test_a_secret_that_is_none_is_found(product: Product, text: str) -> None:
    auth = product.home / "extension" / "auth.json"
    auth.write_text(text)
    done = product.run("doctor")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert f"{auth}" in done.stdout


def test_two_secrets_are_found(product: Product) -> None:
    (product.home / "managed-extension" / "auth.json").write_text(
        json.dumps({"secret": "ab" * 32, "port": 1, "managed": True})
    )
    assert faults(product)["secret"]["do"] == "tabhub extension path"
    product.run("extension", "path")
    assert faults(product) == {}


def test_a_home_and_files_that_others_can_change_are_found_and_mended(product: Product) -> None:
    product.run("config", "set", "unattended", "deny")
    (product.home / "config.json").chmod(0o666)
    product.home.chmod(0o777)
    assert faults(product).keys() == {"home", "files"}
    assert examined(product, "--fix")[0] == 0
    assert product.home.stat().st_mode & 0o777 == 0o700


@pytest.mark.requirement("OT-18")
def test_a_port_that_a_stranger_has_is_found(product: Product, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        product.environment["TABHUB_PORT"] = str(stranger.getsockname()[1])
        assert "is taken by another program" in faults(product)["port"]["says"]
    other = Product(tmp_path / "other")
    with other.running("start", "--port", "0"):
        product.environment["TABHUB_PORT"] = str(other.wait_running())
        assert "a tabhub of another home" in faults(product)["port"]["says"]


@pytest.mark.requirement("OT-18")
def test_an_extension_that_is_missing_outdated_or_changed_is_found(product: Product) -> None:
    manifest = product.home / MANIFEST
    as_it_was = manifest.read_text()
    manifest.write_text(as_it_was.replace('"version": "', '"version": "0.0.'))
    assert "is version 0.0." in faults(product)["extension"]["says"]
    manifest.unlink()
    assert "is not in" in faults(product)["extension"]["says"]
    manifest.write_text(as_it_was)
    (product.home / "extension" / "worker" / "main.js").write_text("alert(1)")
    assert "worker/main.js" in faults(product)["extension"]["says"]
    manifest.write_text("{")
    assert "version unknown" in faults(product)["extension"]["says"]
    product.run("extension", "path")
    assert faults(product) == {}


@pytest.mark.requirement("OT-18")
@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("config.json", '{"port": "high"}', "config"),
        ("config.json", "{", "config"),
        ("config.json", '{"toolsets": ["none"]}', "config"),
        ("policy.toml", "[[", "policy"),
        ("clients.json", "[]", "tokens"),
    ],
)
def test_a_file_that_cannot_be_read_is_found(
    product: Product, file: str, text: str, name: str
) -> None:
    (product.home / file).write_text(text)
    (product.home / file).chmod(0o600)
    found = faults(product)
    assert found.keys() == {name}
    assert found[name]["do"]


@pytest.mark.requirement("OT-18")
def test_a_browser_that_is_missing_or_too_old_is_found(product: Product, tmp_path: Path) -> None:
    (tmp_path / "chrome").write_text("#!/bin/sh\necho Chromium 90.0.1.2\n")
    assert "too old" in faults(product)["browser"]["says"]
    product.environment["TABHUB_BROWSER"] = "/nowhere/chrome"
    assert "/nowhere/chrome" in faults(product)["browser"]["says"]


@pytest.mark.requirement("OT-18")
def test_a_pid_file_without_a_server_is_told(product: Product) -> None:
    pid = product.home / "server.pid"
    pid.write_text('{"pid": 99999999, "port": 1}')
    assert str(pid) in faults(product, "warn")["pid"]["says"]
    pid.write_text(json.dumps({"pid": os.getpid(), "port": 1}))
    assert f"kill {os.getpid()}" in faults(product)["pid"]["do"]


def test_a_server_that_does_not_answer_is_a_fault(product: Product) -> None:
    with product.running("start") as process:
        product.wait_running()
        process.send_signal(signal.SIGSTOP)
        try:
            found = faults(product)
        finally:
            process.send_signal(signal.SIGCONT)
    assert f"kill {process.pid}" in found["pid"]["do"]
    assert found.keys() == {"pid", "port"}


def test_an_open_server_is_told(product: Product) -> None:
    product.environment["TABHUB_DANGEROUSLY_SKIP_PERMISSIONS"] = "1"
    with product.running("start", "--no-auth"):
        product.wait_running()
        _, checks = examined(product)
    told = [check["says"] for check in checks if check["name"] == "openness"]
    assert ["--no-auth" in told[0], "SKIPPED" in told[1]] == [True, True]


async def test_a_browser_without_a_panel_is_told(product: Product) -> None:
    home = Home(product.home)
    async with served(home=home) as server:
        secret.store(home, Auth(SECRET, server.port))
        product.environment["TABHUB_PORT"] = str(server.port)
        async with connected(server.port) as extension:
            await extension.sync(tab(1), kind="personal")
            found = await asyncio.to_thread(faults, product, "warn")
    assert "No side panel is open" in found["connected"]["says"]


def test_a_terminal_gets_colours_and_a_pipe_does_not(product: Product) -> None:
    assert "\x1b" not in product.run("doctor").stdout
    assert "\x1b[32mok  " in in_terminal(product.environment, "doctor").text


def connects(product: Product, port: int, token: str | None) -> None:
    """Cursor's settings, as they would be with these."""
    headers = {} if token is None else {"headers": {"Authorization": f"Bearer {token}"}}
    entry = {"url": f"http://127.0.0.1:{port}/mcp", **headers}
    file = product.home.parent / ".cursor" / "mcp.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"mcpServers": {"tabhub": entry, "other": {"url": "http://x"}}}))


@pytest.mark.requirement("OT-18")
def test_agents_with_another_port_or_a_token_that_is_none_are_found(product: Product) -> None:
    port = int(product.environment["TABHUB_PORT"])
    assert product.run("connect", "cursor").returncode == 0
    assert faults(product) == {}
    connects(product, port, "thc_of_nobody")
    assert "no longer valid" in faults(product)["agents"]["says"]
    assert faults(product)["agents"]["do"] == "tabhub connect cursor"
    connects(product, port, None)
    assert "has no token" in faults(product)["agents"]["says"]
    connects(product, port, product.secret)
    assert "main secret" in faults(product, "warn")["agents"]["says"]
    connects(product, port + 1, "thc_of_nobody")
    assert f"looks for port {port + 1}" in faults(product, "warn")["agents"]["says"]
    (product.home.parent / ".cursor" / "mcp.json").write_text("{")
    assert "Cursor" in faults(product, "warn")["agents"]["says"]
