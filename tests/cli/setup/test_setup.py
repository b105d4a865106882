"""`tabhub setup` where no browser can be had: what it says, what it leaves, how it goes on."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Here
from tests.support.eventually import eventually_sync
from tests.support.product import Product
from tests.support.terminal import Terminal, in_terminal

CTRL_C = b"\x03"


@pytest.fixture
def person(product: Product, tmp_path: Path) -> Path:
    """A new home folder in which Codex and Gemini were used before."""
    home = tmp_path / "person"
    for folder in (".codex", ".gemini", "bin"):
        (home / folder).mkdir(parents=True)
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "OPENCODE_CONFIG", "GEMINI_CLI_HOME"):
        product.environment.pop(name, None)
    product.environment |= {"HOME": str(home), "PATH": str(home / "bin")}
    product.environment.pop("DISPLAY", None)
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text(json.dumps({"port": 0}))
    return home


@pytest.fixture
def stopped(product: Product) -> Iterator[None]:
    yield
    product.run("stop")


def entry(person: Path) -> dict[str, object]:
    servers = tomllib.loads((person / ".codex" / "config.toml").read_text())["mcp_servers"]
    found: dict[str, object] = servers["tabhub"]
    return found


def test_without_a_terminal_it_changes_nothing_and_names_what_is_missing(
    product: Product, person: Path, here: Here
) -> None:
    done = here("setup")
    assert done.returncode == 1
    assert "No agent is set up (found: codex, gemini): " in done.stderr
    assert "No server is running" in done.stderr
    assert "Your own browser is not connected" in done.stderr
    assert "extension path prints" in done.stderr
    assert "setup --yes" in done.stderr
    assert not (person / ".codex" / "config.toml").exists()
    assert not product.status()["running"]


def test_without_a_terminal_a_browser_that_tabhub_started_is_not_the_persons_own(
    person: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    managed = {"ready": True, "kind": "managed"}
    facts = {"port": 1, "pid": 1, "browsers": [managed]}
    monkeypatch.setattr("tabhub.cli.running.find", lambda _: facts)
    assert "Your own browser is not connected" in here("setup").stderr
    assert "not connected: in chrome" not in here("setup", "--browser").stderr


@pytest.mark.usefixtures("stopped")
def test_advice_about_an_agents_file_has_no_tick(product: Product, person: Path) -> None:
    settings = person / ".codex" / "config.toml"
    settings.write_text("")
    settings.chmod(0o644)
    shown = product.run("setup", "--yes", "--agent", "codex").stdout
    assert re.search(r"^   (✓|ok) Connected Codex", shown, re.MULTILINE)
    assert re.search(r"^   Other users can read the token in this file", shown, re.MULTILINE)


def test_an_unknown_agent_is_wrong_usage(person: Path, here: Here) -> None:
    done = here("setup", "--yes", "--agent", "nobody")
    assert done.returncode == 2
    assert "tabhub knows claude-code" in done.stderr


@pytest.mark.usefixtures("stopped")
def test_with_yes_it_does_what_needs_no_person_and_a_second_run_goes_on(
    product: Product, person: Path
) -> None:
    done = product.run("setup", "--yes", "--agent", "codex")
    assert done.returncode == 1
    assert "No browser has connected. Load the extension as shown above, then: " in done.stderr
    assert done.stderr.rstrip().endswith(" setup")
    assert "Restart" not in done.stdout, "a later step asks for it"
    assert str(product.home / "extension") in done.stdout
    assert entry(person)["args"] == ["start", "--stdio"]
    assert not (person / ".gemini" / "settings.json").exists()
    pid = product.status()["pid"]
    before = (person / ".codex" / "config.toml").read_text()
    again = product.run("setup", "--yes", "--agent", "codex")
    assert "Codex is set up" in again.stdout
    assert f"runs already: http://127.0.0.1:{product.status()['port']} (pid {pid})" in again.stdout
    assert (person / ".codex" / "config.toml").read_text() == before


@pytest.mark.usefixtures("stopped")
def test_a_broken_file_of_one_agent_does_not_keep_the_others_from_being_connected(
    product: Product, person: Path
) -> None:
    (person / ".gemini" / "settings.json").write_text("{ broken")
    done = product.run("setup", "--yes")
    assert "Gemini CLI" in done.stdout and "cannot be read" in done.stdout
    assert entry(person)["args"] == ["start", "--stdio"]
    assert (person / ".gemini" / "settings.json").read_text() == "{ broken"


@pytest.mark.usefixtures("stopped")
def test_in_a_terminal_it_asks_waits_and_ctrl_c_leaves_all_usable(
    product: Product, person: Path
) -> None:
    with Terminal(product.environment, "setup") as terminal:
        terminal.wait_for("Connect which?")
        terminal.type(b"7\n")
        terminal.wait_for("Write numbers from 1 to 2")
        terminal.type(b"1\n")
        terminal.wait_for("Waiting for the extension")
        terminal.type(CTRL_C)
        assert terminal.end() == 130
    assert "goes on from here" in terminal.text
    assert product.status()["running"]
    assert entry(person)["args"] == ["start", "--stdio"]
    assert not (person / ".gemini" / "settings.json").exists()


def program(person: Path, name: str, script: str) -> None:
    file = person / "bin" / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.mark.usefixtures("stopped")
def test_a_clipboard_program_gets_the_folder(product: Product, person: Path) -> None:
    program(person, "xclip", f"/bin/cat > {person}/clipboard")
    product.environment["DISPLAY"] = ":7"
    done = product.run("setup", "--yes", "--agent", "codex")
    assert "It is on your clipboard" in done.stdout
    assert (person / "clipboard").read_text() == str(product.home / "extension")


@pytest.mark.usefixtures("stopped")
def test_in_wsl_the_folder_is_named_and_copied_as_windows_knows_it(
    product: Product, person: Path
) -> None:
    windows = r"\\wsl.localhost\Debian\größe"
    program(person, "wslpath", f"""printf '%s\\n' '{windows}'""")
    program(person, "clip.exe", f"/bin/cat > {person}/clipboard")
    done = product.run("setup", "--yes", "--agent", "codex")
    assert f"{windows}\n" in done.stdout
    assert f"In a browser of WSL itself: {product.home / 'extension'}" in done.stdout
    assert (person / "clipboard").read_bytes().decode("utf-16-le") == windows


def test_nothing_installed_is_said(product: Product, person: Path) -> None:
    for folder in (".codex", ".gemini"):
        (person / folder).rmdir()
    done = in_terminal(product.environment, "setup", "--seconds", "0")
    assert "No agent that tabhub knows is installed" in done.text
    assert done.returncode == 1
    eventually_sync(lambda: product.run("stop").returncode == 0, "the server to stop")
