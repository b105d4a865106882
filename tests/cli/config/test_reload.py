"""A change by a command is in effect when the command has ended, however many commands run."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.conftest import Here
from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.product import Product
from tests.support.serving import client

ONE = {"rates": {"adminPerMinute": 1, "clientSessionsPerMinute": 0}}


@pytest.fixture
def product(tmp_path: Path) -> Product:
    product = Product(tmp_path / "home")
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text(json.dumps(ONE))
    return product


@pytest.fixture
def server(product: Product) -> Iterator["subprocess.Popen[str]"]:
    with product.running("start", "--port", "0") as process:
        product.wait_running()
        yield process


@pytest.fixture
async def port(product: Product, server: "subprocess.Popen[str]") -> int:
    """The port of a server that refuses administration requests for a minute."""
    port: int = product.status()["port"]
    async with client(port, product.secret) as http:
        assert (await http.post("/reload")).status_code == 200
        assert (await http.post("/reload")).status_code == 429
    return port


async def fetched(product: Product, port: int, path: str) -> httpx.Response:
    async with client(port, product.secret) as http:
        return await http.get(path)


async def test_every_command_takes_effect_above_the_limit_of_administration(
    product: Product, here: Here, port: int
) -> None:
    async def in_force() -> Any:
        return (await fetched(product, port, "/settings")).json()["settings"]

    token = product.run("client", "add", "ann").stdout.strip()
    async with client(port, token) as http:
        opened = await http.get("/health")
        assert opened.status_code == 200
    for command in (
        ("config", "set", "toolsets", "browser"),
        ("permissions", "set", "browser_open_tab", "off"),
        ("client", "revoke", "ann"),
    ):
        process = here(*command)
        assert (process.returncode, "limit" in process.stderr) == (0, False)
    settings = await in_force()
    assert settings["toolsets"] == ["browser"]
    assert settings["permissions"]["tools"] == {"browser_open_tab": "off"}
    old = product.secret
    assert here("config", "rotate-secret", "--confirm").returncode == 0
    async with client(port, old) as http:
        assert (await http.get("/health")).status_code == 401
    assert (await in_force())["toolsets"] == ["browser"]
    assert here("config", "reset", "--confirm").returncode == 0
    assert (await in_force())["toolsets"] == ["core", "pages", "plugins"]


async def test_changes_that_need_a_restart_are_reported_above_the_limit_too(
    product: Product, here: Here, port: int
) -> None:
    process = here("config", "set", "limits.callSeconds", "60")
    assert (process.returncode, "only after a restart" in process.stderr) == (0, True)
    printed = here("config", "show").stdout
    assert "limits.callSeconds = 30  (60 at the next start)\n" in printed
    assert f"port = {port}  (of the running server)\n" in printed
    assert here("config", "get", "port").stdout == f"{port}\n"
    value = here("config", "get", "limits.callSeconds")
    assert (value.stdout, "60 at the next start" in value.stderr) == ("30\n", True)
    facts = json.loads(here("config", "show", "--json").stdout)
    assert (facts["limits"]["callSeconds"], facts["waiting"]) == (30, {"limits.callSeconds": 60})
    assert "uses limits.callSeconds only after a restart" in here("doctor").stdout


async def test_without_the_signal_the_message_is_true_and_doctor_reports_the_differences(
    product: Product, here: Here, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    product.run("client", "add", "ann")
    monkeypatch.delattr(signal, "SIGHUP")
    written = here("config", "set", "toolsets", "browser")
    restart = f"{product.command} stop; {product.command} start"
    assert (written.returncode, restart in written.stderr) == (1, True)
    revoked = here("client", "revoke", "ann")
    assert (revoked.returncode, "the token of ann is no longer valid" in revoked.stderr) == (
        0,
        True,
    )
    old = product.secret
    rotated = here("config", "rotate-secret", "--confirm")
    assert (rotated.returncode, "The old secret stays" in rotated.stderr) == (1, True)
    assert (product.secret, (await fetched(product, port, "/health")).status_code) == (old, 200)
    assert "has not read" in (report := here("doctor").stdout) and "toolsets differ" in report
    printed = here("config", "show").stdout
    assert 'toolsets = ["core","pages","plugins"]  (["browser"] in the file, which' in printed


async def test_a_file_that_cannot_be_applied_is_reported_above_the_limit_too(
    product: Product, here: Here, port: int
) -> None:
    (product.home / "policy.toml").write_text("nonsense = 1")
    refused = here("permissions", "set", "browser_open_tab", "off")
    assert refused.returncode == 1
    assert "The change is written" in refused.stderr and "policy.toml" in refused.stderr
    health = (await fetched(product, port, "/health")).json()
    assert (health["reloadCount"], "policy.toml" in health["lastReloadError"]) == (1, True)
    newest = (await fetched(product, port, "/audit?limit=1")).json()[0]
    assert (newest["tool"], newest["success"]) == ("reload", False)


async def test_the_audit_log_names_the_changed_keys_without_their_values(
    product: Product, here: Here, port: int
) -> None:
    here("config", "set", "limits.callSeconds", "61")
    here("client", "add", "ann")
    here("client", "revoke", "ann")
    here("config", "rotate-secret", "--confirm")
    entries = (await fetched(product, port, "/audit?plugin=admin")).json()
    assert [entry["arguments"] for entry in reversed(entries) if entry["arguments"]] == [
        {"changed": ["limits.callSeconds"]},
        {"added": ["ann"]},
        {"revoked": ["ann"]},
        {"changed": ["secret"]},
    ]
    assert "61" not in json.dumps([entry["arguments"] for entry in entries])


def test_a_server_reads_its_files_again_on_sighup_and_keeps_running(
    product: Product, server: "subprocess.Popen[str]"
) -> None:
    server.send_signal(signal.SIGHUP)
    eventually_sync(lambda: product.status()["reloadCount"] or None, "the files to be read")
    assert server.poll() is None


def test_a_server_ends_with_the_terminal_it_was_started_in(product: Product) -> None:
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tabhub", "start", "--port", "0"],
        env=product.environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(terminal)
    try:
        product.wait_running()
        os.close(controller)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
    assert product.run("status").returncode == 3


def test_unknown_keys_are_reported_by_doctor_and_in_the_log(product: Product, here: Here) -> None:
    file = product.home / "config.json"
    file.write_text(json.dumps({**ONE, "limits": {"callSecond": 5}, "tolsets": []}))
    with product.running("start", "--port", "0"):
        product.wait_running()
    log = (product.home / "server.log").read_text()
    report = here("doctor").stdout
    for text in (log, report):
        assert "no setting 'limits.callSecond'. Did you mean limits.callSeconds?" in text
        assert "no setting 'tolsets'. Did you mean toolsets?" in text
    assert "tabhub config unset limits.callSecond\n" in report
