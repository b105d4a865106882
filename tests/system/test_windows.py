"""The product without anything that Windows lacks: `windows/sitecustomize.py` takes it away."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.eventually import PATIENCE
from tests.support.http_client import free_port
from tests.support.product import Product

WINDOWS = Path(__file__).parent / "windows"
IMPORT_ALL = """
import pkgutil, sys, tabhub
assert sys.platform == "win32"
names = [m.name for m in pkgutil.walk_packages(tabhub.__path__, "tabhub.")]
for name in names:
    if ".templates" not in name and name != "tabhub.__main__":
        __import__(name)
print(len(names))
"""
HELP_OF_ALL = """
import click, typer
from typer.testing import CliRunner
from tabhub.cli.commands import app

def paths(command, path=()):
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from paths(inner, (*path, name))

for path in paths(typer.main.get_command(app)):
    result = CliRunner().invoke(app, [*path, "--help"])
    assert result.exit_code == 0 and "Usage" in result.output, (path, result.output)
    print(" ".join(path))
"""


@pytest.fixture
def product(tmp_path: Path) -> Product:
    """tabhub on a Windows whose only program is a browser's absence."""
    found = Product(tmp_path / "home")
    found.environment["PYTHONPATH"] = str(WINDOWS)
    found.environment["HOME"] = str(tmp_path)
    return found


def python(product: Product, script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=product.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_is_imported_without_what_windows_lacks(product: Product) -> None:
    assert int(python(product, IMPORT_ALL)) > 300


def test_every_command_explains_itself(product: Product) -> None:
    commands = python(product, HELP_OF_ALL).splitlines()
    assert {"", "start", "browser", "connect", "doctor", "proxy serve"} <= set(commands)


def test_a_server_runs_in_the_background_and_cleans_up_when_it_is_stopped(
    product: Product,
) -> None:
    started = product.run("start", "--background", "--port", "0")
    assert started.returncode == 0, started.stderr
    try:
        status = json.loads(product.run("status", "--json").stdout)
        assert status["running"] is True and status["reloadSignal"] is None
        assert json.loads(product.run("tool", "list", "--json").stdout)
    finally:
        stopped = product.run("stop")
    assert (stopped.stdout, stopped.returncode) == ("Stopped.\n", 0)
    assert not (product.home / "server.pid").exists()
    assert "stopped" in (product.home / "server.log").read_text()


def test_two_servers_do_not_share_a_port(product: Product, tmp_path: Path) -> None:
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        other = Product(tmp_path / "other")
        other.environment["PYTHONPATH"] = str(WINDOWS)
        refused = other.run("start", "--port", str(port))
        assert (refused.returncode, f"Port {port} is used by" in refused.stderr) == (1, True)


COMMANDS = {
    "client add ann": 0,
    "config set limits.callSeconds 20": 0,
    "permissions list": 0,
    "connect": 0,
    "connect claude-code": 0,
    "setup": 1,
    "completion bash": 0,
    "extension path": 0,
    "plugin list": 0,
    "status": 3,
    "stop": 3,
    "watch": 3,
    "record shop.gif --seconds 1": 3,
    "extension pair": 3,
    "browser --headless": 1,
}
"""With their exit codes where no server runs and no browser is installed."""


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_do_their_work(product: Product, command: str) -> None:
    product.environment["PATH"] = ""
    done = product.run(*command.split())
    assert (done.returncode, "Traceback" in done.stderr) == (COMMANDS[command], False), done.stderr


def test_doctor_says_what_it_finds(product: Product) -> None:
    product.environment["PATH"] = ""
    product.run("extension", "path")
    found = product.run("doctor")
    assert "Traceback" not in found.stderr
    assert f"You can write to {product.home}" in found.stdout
    assert "winget install Google.Chrome" in found.stdout


def test_the_home_is_in_the_folder_for_local_application_data(
    product: Product, tmp_path: Path
) -> None:
    del product.environment["TABHUB_HOME"]
    product.environment["LOCALAPPDATA"] = str(tmp_path / "Local")
    assert product.run("client", "add", "ann").returncode == 0
    assert (tmp_path / "Local" / "tabhub" / "clients.json").is_file()


def test_the_bridge_answers_and_its_server_ends_with_a_word(product: Product) -> None:
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "ann", "version": "1"},
    }
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    product.environment["TABHUB_PORT"] = str(free_port())
    try:
        done = product.run("start", "--stdio", stdin=json.dumps(request) + "\n")
    finally:
        stopped = product.run("stop")
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "tabhub"
    assert (done.returncode, stopped.stdout) == (0, "Stopped.\n")


def test_programs_read_utf_8_whatever_the_code_page_is(product: Product, tmp_path: Path) -> None:
    product.environment["PYTHONIOENCODING"] = "cp1252"
    home = tmp_path / "日本語"
    product.environment["TABHUB_HOME"] = str(home)
    done = product.run("extension", "path")
    assert (done.returncode, done.stdout.strip()) == (0, str(home / "extension"))


def test_several_workers_are_refused_with_the_way_out(product: Product) -> None:
    refused = product.run("proxy", "serve", "--workers", "2", "--nats", "nats://127.0.0.1:1")
    assert (refused.returncode, "start more nodes" in refused.stderr) == (2, True)
