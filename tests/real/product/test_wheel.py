"""The first hour: the wheel in an empty environment, and the README's commands word for word."""

import json
import re
from pathlib import Path

import pytest

from tests.built_package import ROOT, NewMachine, built_once
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.slow]
PAGE = "https://example.com"


def readme_commands() -> list[str]:
    """Every command of the README, `stop` last."""
    text = (ROOT / "README.md").read_text()
    found = re.findall(r"^    (tabhub [^#\n]+)", text, re.MULTILINE)
    return sorted((command.strip() for command in found), key="tabhub stop".__eq__)


def test_the_readme_works_word_for_word_on_a_new_machine(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, site: Site
) -> None:
    commands = readme_commands()
    assert commands[0] == "tabhub start --browser --background"
    assert f"tabhub tool call browser_open_tab url={PAGE}" in commands
    machine = NewMachine(tmp_path)
    machine.install(built_once(tmp_path_factory)[0])
    outputs: dict[str, str] = {}
    try:
        for command in commands:
            done = machine.run(command.replace(PAGE, site.page("form")))
            # Here nobody loads the extension, and the browser of tabhub is not the person's own.
            is_setup = command == "tabhub setup"
            assert ("Your own browser is not connected" in done.stderr) == is_setup
            assert (done.returncode, "Traceback" in done.stderr) == (int(is_setup), False), (
                command,
                done.stdout,
                done.stderr,
            )
            outputs[command] = done.stdout
    finally:
        machine.run("tabhub stop")
    opened = json.loads(outputs[f"tabhub tool call browser_open_tab url={PAGE}"])
    result = opened["structuredContent"]
    assert result["tabId"] and site.url in json.dumps(result), opened
    assert outputs["tabhub stop"].startswith("Stopped.")
    entry = json.loads((machine.home / ".cursor" / "mcp.json").read_text())["mcpServers"]
    assert "tabhub" in entry
