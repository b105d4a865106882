"""`tabhub doctor` finds every fault that these tests create."""

import asyncio
import json
import os
import re
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tabhub.browser.launcher.installation import install_extension
from tabhub.cli.doctor.finding import Chmod
from tabhub.config import secret
from tabhub.config.paths import Home
from tabhub.config.secret import Auth
from tabhub.system.processes import listener
from tests.cli.conftest import Here
from tests.support.browsers.extension import connected, tab
from tests.support.http_client import free_port
from tests.support.product import Product
from tests.support.serving import SECRET, served
from tests.support.terminal import in_terminal

Check = dict[str, Any]
MANIFEST = Path("extension/manifest.json")


@pytest.fixture
def product(tmp_path: Path) -> Product:
    """A healthy home, with a browser that only prints its version."""
    product = Product(tmp_path / "home")
    browser = tmp_path / "chrome"
    browser.write_text("#!/bin/sh\necho Chromium 150.0.1.2\n")
    browser.chmod(0o755)
    more = {"TABHUB_BROWSER": str(browser), "TABHUB_PORT": str(free_port()), "HOME": str(tmp_path)}
    product.environment |= more
    home = Home(product.home).create()
    secret.prepare(home, 9515)
    install_extension(home)
    return product


def examined(run: Here, *flags: str) -> tuple[int, list[Check]]:
    process = run("doctor", "--json", *flags)
    report = json.loads(process.stdout)
    assert report["ok"] == (process.returncode == 0)
    assert not re.search("[0-9a-f]{64}", process.stdout + process.stderr), "a secret"
    return process.returncode, report["checks"]


def faults(run: Here, level: str = "fail") -> dict[str, Check]:
    code, checks = examined(run)
    by_name = {check["name"]: check for check in checks if check["level"] == level}
    assert code == (1 if any(check["level"] == "fail" for check in checks) else 0)
    return by_name


@pytest.mark.requirement("OT-18")
def test_a_healthy_home_has_no_fault_and_every_warning_has_advice(product: Product) -> None:
    assert faults(product.run) == {}
    assert faults(product.run, "warn").keys() == {"server"}
    with product.running("start"):
        product.wait_running()
        code, checks = examined(product.run)
    assert code == 0
    assert all(check.get("do") for check in checks if check["level"] != "ok")
    named = {check["name"]: check["says"] for check in checks}
    assert "runs (pid" in named["server"]
    assert "No browser is connected" in named["connected"]


def test_a_new_home_is_not_a_fault_and_no_file_is_created(product: Product, tmp_path: Path) -> None:
    product.environment["TABHUB_HOME"] = str(tmp_path / "new")
    process = product.run("doctor")
    assert (process.returncode, (tmp_path / "new").exists()) == (0, False)
    assert "tabhub start" in process.stdout


@pytest.mark.requirement("OT-18")
def test_a_secret_that_others_can_read_is_found_and_fixed(product: Product, here: Here) -> None:
    auth = product.home / "extension" / "auth.json"
    auth.chmod(0o644)
    found = faults(here)["secret"]
    assert found["do"] == f"chmod 600 {auth}"
    assert examined(here, "--fix")[0] == 0
    assert auth.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", '{"secret": "ab", "port": 1}', '{"secret": 5}'])
def test_an_invalid_secret_is_found(product: Product, text: str) -> None:
    auth = product.home / "extension" / "auth.json"
    auth.write_text(text)
    process = product.run("doctor")
    assert (process.returncode, "Traceback" in process.stderr) == (1, False)
    assert f"{auth}" in process.stdout


def test_two_secrets_are_found(product: Product, here: Here) -> None:
    (product.home / "managed-extension" / "auth.json").write_text(
        json.dumps({"secret": "ab" * 32, "port": 1, "managed": True})
    )
    assert faults(here)["secret"]["do"] == f"{product.command} extension path"
    product.run("extension", "path")
    assert faults(here) == {}


def test_a_home_and_files_that_others_can_change_are_found_and_fixed(
    product: Product, here: Here
) -> None:
    product.run("config", "set", "unattended", "deny")
    (product.home / "config.json").chmod(0o666)
    product.home.chmod(0o777)
    assert faults(here).keys() == {"home", "files"}
    assert examined(here, "--fix")[0] == 0
    assert product.home.stat().st_mode & 0o777 == 0o700


@pytest.mark.requirement("OT-18")
def test_a_port_used_by_another_program_is_found(product: Product, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        product.environment["TABHUB_PORT"] = str(stranger.getsockname()[1])
        _, checks = examined(product.run)
        (found,) = [check["says"] for check in checks if check["name"] == "port"]
        assert "is used by another program" in found and f"(pid {os.getpid()})" in found
        assert not [check for check in checks if check.get("do", "").endswith("tabhub start")]
        (product.home / "server.pid").write_text(
            json.dumps({"pid": 99999999, "port": stranger.getsockname()[1]})
        )
        product.environment["TABHUB_PORT"] = str(free_port())
        assert "which the last server used, is used" in faults(product.run, "warn")["port"]["says"]
    other = Product(tmp_path / "other")
    with other.running("start", "--port", "0"):
        product.environment["TABHUB_PORT"] = str(other.wait_running())
        assert "a tabhub of another home" in faults(product.run)["port"]["says"]


@pytest.mark.parametrize("command", ["doctor", "status", "stop", "connect", "connect cursor"])
def test_a_silent_program_is_waited_for_once(product: Product, here: Here, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        product.environment["TABHUB_PORT"] = str(silent.getsockname()[1])
        (product.home / "server.pid").write_text(json.dumps({"pid": 99999999, "port": 1}))
        here(*command.split())
        assert [request[:11] for request in _requests_to(silent)] == [b"GET /health"]


def test_a_terminal_shows_that_a_silent_program_is_waited_for(product: Product) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = product.environment["TABHUB_PORT"] = str(silent.getsockname()[1])
        shown = in_terminal(product.environment, "status").text
    assert f"Waiting for an answer on port {port}" in shown


def test_a_command_to_type_has_its_path_quoted(tmp_path: Path) -> None:
    path = tmp_path / "with a space"
    assert str(Chmod(path, 0o600)) == f"chmod 600 '{path}'"


def _requests_to(listening: socket.socket) -> list[bytes]:
    """The first bytes of every connection to the socket."""
    listening.setblocking(False)
    requests: list[bytes] = []
    with suppress(BlockingIOError):
        while True:
            with listening.accept()[0] as connection:
                requests.append(connection.recv(1000))
    return [request for request in requests if request]


@pytest.mark.requirement("OT-18")
def test_an_extension_that_is_missing_outdated_or_changed_is_found(
    product: Product, here: Here
) -> None:
    manifest = product.home / MANIFEST
    as_it_was = manifest.read_text()
    manifest.write_text(as_it_was.replace('"version": "', '"version": "0.0.'))
    assert "is version 0.0." in faults(here)["extension"]["says"]
    manifest.unlink()
    assert "is not in" in faults(here)["extension"]["says"]
    manifest.write_text(as_it_was)
    (product.home / "extension" / "worker" / "main.js").write_text("alert(1)")
    assert "worker/main.js" in faults(here)["extension"]["says"]
    manifest.write_text("{")
    assert "version unknown" in faults(here)["extension"]["says"]
    product.run("extension", "path")
    assert faults(here) == {}


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
    product: Product, here: Here, file: str, text: str, name: str
) -> None:
    (product.home / file).write_text(text)
    (product.home / file).chmod(0o600)
    found = faults(here)
    assert found.keys() == {name}
    assert found[name]["do"]


@pytest.mark.requirement("OT-18")
def test_a_browser_that_is_missing_or_too_old_is_found(
    product: Product, here: Here, tmp_path: Path
) -> None:
    (tmp_path / "chrome").write_text("#!/bin/sh\necho Chromium 90.0.1.2\n")
    assert "too old" in faults(here)["browser"]["says"]
    product.environment["TABHUB_BROWSER"] = "/nowhere/chrome"
    assert "/nowhere/chrome" in faults(here)["browser"]["says"]


@pytest.mark.requirement("OT-18")
def test_a_pid_file_without_a_server_is_reported(product: Product, here: Here) -> None:
    pid = product.home / "server.pid"
    pid.write_text('{"pid": 99999999, "port": 1}')
    assert str(pid) in faults(here, "warn")["pid"]["says"]
    pid.write_text(json.dumps({"pid": os.getpid(), "port": 1}))
    assert f"kill {os.getpid()}" in faults(here)["pid"]["do"]


def test_a_server_that_does_not_answer_is_a_fault(product: Product) -> None:
    with product.running("start") as process:
        product.wait_running()
        process.send_signal(signal.SIGSTOP)
        try:
            found = faults(product.run)
        finally:
            process.send_signal(signal.SIGCONT)
    assert f"kill {process.pid}" in found["pid"]["do"]
    assert found.keys() == {"pid", "port"}


def test_a_server_without_protection_is_reported(product: Product) -> None:
    product.environment["TABHUB_DANGEROUSLY_SKIP_PERMISSIONS"] = "1"
    with product.running("start", "--no-auth"):
        product.wait_running()
        _, checks = examined(product.run)
    messages = [check["says"] for check in checks if check["name"] == "openness"]
    assert ["--no-auth" in messages[0], "SKIPPED" in messages[1]] == [True, True]


async def test_it_says_where_the_person_is_asked(product: Product) -> None:
    home = Home(product.home)
    async with served(home=home) as server:
        secret.store(home, Auth(SECRET, server.port))
        product.environment["TABHUB_PORT"] = str(server.port)
        async with connected(server.port) as extension:
            await extension.sync(tab(1), kind="personal")
            _, checks = await asyncio.to_thread(examined, product.run)
    said = {check["says"]: check["level"] for check in checks if check["name"] == "connected"}
    assert said["Your own browser notifies you when a call needs your approval."] == "ok"


def test_a_terminal_gets_colours_and_a_pipe_does_not(product: Product) -> None:
    assert "\x1b" not in product.run("doctor").stdout
    assert "\x1b[32mok  " in in_terminal(product.environment, "doctor").text


def connects(product: Product, port: int, token: str | None) -> None:
    """Write Cursor's settings with this port and token."""
    headers = {} if token is None else {"headers": {"Authorization": f"Bearer {token}"}}
    entry = {"url": f"http://127.0.0.1:{port}/mcp", **headers}
    file = product.home.parent / ".cursor" / "mcp.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"mcpServers": {"tabhub": entry, "other": {"url": "http://x"}}}))


@pytest.mark.requirement("OT-18")
def test_agents_with_a_wrong_port_or_an_invalid_token_are_found(
    product: Product, here: Here
) -> None:
    port = int(product.environment["TABHUB_PORT"])
    assert product.run("connect", "cursor").returncode == 0
    assert faults(here) == {}
    connects(product, port, "thc_of_nobody")
    unknown = f"has a token that was revoked, or is of another home than {product.home}"
    assert unknown in faults(here)["agents"]["says"]
    assert faults(here)["agents"]["do"] == f"{product.command} connect cursor"
    connects(product, port, None)
    assert "has no token" in faults(here)["agents"]["says"]
    connects(product, port, product.secret)
    assert "main secret" in faults(here, "warn")["agents"]["says"]
    connects(product, port + 1, "thc_of_nobody")
    assert f"uses port {port + 1}" in faults(here, "warn")["agents"]["says"]
    (product.home.parent / ".cursor" / "mcp.json").write_text("{")
    assert "Cursor" in faults(here, "warn")["agents"]["says"]


def test_a_token_in_a_file_that_others_can_read_is_reported_and_fixed(
    product: Product, here: Here
) -> None:
    file = product.home.parent / ".cursor" / "mcp.json"
    assert product.run("connect", "cursor").returncode == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert "agents" not in faults(here, "warn")
    file.chmod(0o644)
    assert faults(here, "warn")["agents"]["do"] == f"chmod 600 {file}"
    assert examined(here, "--fix")[0] == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert [check["says"] for check in examined(here)[1] if check["name"] == "agents"] == [
        f"Cursor ({file}) is set up."
    ]


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_the_process_that_holds_a_port_is_found(family: socket.AddressFamily) -> None:
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.create_server((host, 0), family=family) as taken:
        port: int = taken.getsockname()[1]
        assert listener(port) == os.getpid()
    assert listener(port) is None
