"""Completion, as the shells ask for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Here
from tests.support.product import Product

BIN = Path(sys.executable).parent


def completed(product: Product, line: str, shell: str = "zsh") -> str:
    variables = {
        "_TABHUB_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": line.split()[-1],
    }
    done = subprocess.run(
        [BIN / "tabhub"],
        env={**product.environment, **variables},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("shell", ["zsh", "fish", "powershell"])
@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("tabhub conn", "connect"),
        ("tabhub tool c", "call"),
        ("tabhub start --backg", "--background"),
        ("tabhub connect claude-d", "claude-desktop"),
        ("tabhub setup --agent code", "codex"),
        ("tabhub config set limits.callS", "limits.callSeconds"),
    ],
)
def test_commands_options_agents_and_settings_are_completed(
    product: Product, shell: str, line: str, word: str
) -> None:
    assert word in completed(product, line, shell)


def test_clients_are_those_of_the_home(product: Product, here: Here) -> None:
    assert here("client", "add", "laptop").returncode == 0
    assert "laptop" in completed(product, "tabhub client revoke la")


def test_tools_are_those_of_the_running_server_and_none_without_one(product: Product) -> None:
    assert "browser_open_tab" not in completed(product, "tabhub tool call browser_open")
    with product.running("start", "--port", "0"):
        product.wait_running()
        assert "browser_open_tab" in completed(product, "tabhub tool call browser_open")


def test_the_script_of_bash_works_in_bash(product: Product) -> None:
    code = """
    eval "$(tabhub completion bash)"
    COMP_WORDS=(tabhub connect cu) COMP_CWORD=2
    _tabhub_completion tabhub
    echo "${COMPREPLY[@]}"
    """
    path = f"{BIN}{os.pathsep}{product.environment['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", code],
        env={**product.environment, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert (done.stdout.split(), done.stderr) == (["cursor"], "")


def test_other_shells_are_wrong_usage(here: Here) -> None:
    assert here("completion", "tcsh").returncode == 2
    for shell in ("bash", "zsh", "fish", "powershell"):
        done = here("completion", shell)
        assert "tabhub" in done.stdout
