"""`tabhub setup` in a new home, with a real browser that loads the extension as a person does."""

import asyncio
import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tabhub.browser.launcher.finder import find_browser
from tests.support.browsers.unpacked import browser_with
from tests.support.http_client import free_port
from tests.support.product import Product
from tests.support.terminal import Terminal

pytestmark = pytest.mark.real_browser
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "codex", "version": "1"},
    },
}


@pytest.fixture
def own(tmp_path: Path) -> Product:
    """A new HOME, in which Codex was used before."""
    person = tmp_path / "person"
    (person / ".codex").mkdir(parents=True)
    product = Product(person / ".tabhub")
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "TABHUB_HOME"):
        product.environment.pop(name, None)
    # The PATH of the machine may lead to agents.
    product.environment |= {"HOME": str(person), "PATH": "/usr/bin:/bin"}
    product.environment["TABHUB_BROWSER"] = str(find_browser().path)
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text(json.dumps({"port": 0}))
    return product


def as_loaded(own: Product) -> Callable[[Path], None]:
    """The folder that setup names, with the pairing that is in it."""
    return partial(shutil.copytree, own.home / "extension", dirs_exist_ok=True)


def start_agent(own: Product) -> str:
    """Start what the agent's settings say, as the agent does, and say hello."""
    file = own.home.parent / ".codex" / "config.toml"
    entry: dict[str, Any] = tomllib.loads(file.read_text())["mcp_servers"]["tabhub"]
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        env={**own.environment, **entry["env"]},
        input=json.dumps(HELLO) + os.linesep,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout


async def test_a_new_home_gets_to_a_real_call_in_a_persons_own_browser(
    own: Product, tmp_path: Path
) -> None:
    try:
        with Terminal(own.environment, "setup", columns=120) as terminal:
            await asyncio.to_thread(terminal.wait_for, "Connect which?")
            terminal.type(b"\n")
            await asyncio.to_thread(terminal.wait_for, "Waiting for the extension")
            assert str(own.home / "extension") in terminal.text
            async with browser_with(tmp_path / "browser", as_loaded(own)):
                await asyncio.to_thread(terminal.wait_for, "Waiting for Codex")
                assert '"serverInfo"' in await asyncio.to_thread(start_agent, own)
                assert await asyncio.to_thread(terminal.end) == 0
                done = own.run("setup", timeout=120)
        assert ", your own, " in terminal.text and "puzzle icon" in terminal.text
        assert "Codex has connected." in terminal.text
        assert "browser_list_tabs, called as Codex" in terminal.text
        assert "the person's)" in terminal.text
        assert "All done." in terminal.text
        assert done.returncode == 0, done.stderr
        assert "browser_list_tabs, called as Codex" in done.stdout
    finally:
        own.run("stop")


def test_a_script_gets_to_a_real_call_in_a_browser_of_its_own(own: Product) -> None:
    try:
        done = own.run("setup", "--yes", "--browser", timeout=120)
        assert done.returncode == 0, done.stderr
        assert "started by tabhub" in done.stdout
        assert "browser_list_tabs, called as Codex" in done.stdout
    finally:
        own.run("stop")


async def test_calls_go_to_the_persons_browser_once_the_one_for_agents_is_closed(
    own: Product, tmp_path: Path
) -> None:
    # The extension finds the next server at the same port.
    (own.home / "config.json").write_text(json.dumps({"port": free_port()}))
    start = ("start", "--browser", "--background")
    assert (await asyncio.to_thread(own.run, *start, timeout=120)).returncode == 0
    try:
        async with browser_with(tmp_path / "browser", as_loaded(own)):
            with Terminal(own.environment, "setup", "--agent", "codex", columns=120) as terminal:
                await asyncio.to_thread(
                    terminal.wait_for, "Close it (this restarts the server), so"
                )
                terminal.type(b"\n")
                await asyncio.to_thread(terminal.wait_for, "Waiting for Codex")
                terminal.type(b"\n")
                assert await asyncio.to_thread(terminal.end) == 0
            kinds = [one["kind"] for one in own.status()["browsers"]]
    finally:
        own.run("stop")
    assert "called as tabhub tool, in " in terminal.text and "(your own)" in terminal.text
    assert kinds == ["personal"]


def test_a_browser_that_tabhub_has_started_is_not_taken_for_the_persons_own(own: Product) -> None:
    try:
        assert own.run("start", "--browser", "--background", timeout=120).returncode == 0
        done = own.run("setup", "--yes", "--agent", "codex", timeout=120)
        assert done.returncode == 1
        assert "No browser has connected" in done.stderr
        assert "Load unpacked" in done.stdout and "All done" not in done.stdout
        with_one = own.run("setup", "--yes", "--browser", "--agent", "codex", timeout=120)
        assert with_one.returncode == 0, with_one.stderr
    finally:
        own.run("stop")
