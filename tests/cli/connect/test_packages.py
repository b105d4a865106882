"""Claude Code and Gemini CLI accept their packages, and reach tabhub by what these say.

Their programs take half a gigabyte, so only `make agents` fetches them.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.integrations import FILES, ROOT
from tests.support.http_client import free_port

BIN = Path(__file__).parent / "npm" / "node_modules" / ".bin"
SECONDS = 100
UVX = """#!/bin/sh
# What uvx does once it has the package.
shift
exec "{python}" -m tabhub "$@"
"""

pytestmark = [
    pytest.mark.npm,
    pytest.mark.slow,
    pytest.mark.skipif(not BIN.exists(), reason="make agents fetches them"),
]


class Person:
    """A new home with the repository's packages in it, and nothing on the path but an own uvx."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "person"
        self.repository = folder / "repository"
        for name in FILES:
            (self.repository / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.repository / name)
        (self.home / "project").mkdir(parents=True)
        (self.home / ".tabhub").mkdir(mode=0o700)
        (self.home / ".tabhub" / "config.json").write_text(json.dumps({"port": free_port()}))
        (folder / "bin").mkdir()
        (folder / "bin" / "uvx").write_text(UVX.format(python=sys.executable))
        (folder / "bin" / "uvx").chmod(0o755)
        self._environment = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([str(folder / "bin"), str(BIN), os.environ["PATH"]]),
            "NO_COLOR": "1",
        }

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.home / "project",
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        output = done.stdout + done.stderr
        assert done.returncode == 0, output
        return output


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    found = Person(tmp_path)
    yield found
    found.run("uvx", "tabhub", "stop")


def test_claude_code_installs_the_plugin_and_reaches_tabhub(person: Person) -> None:
    for folder in (person.repository, person.repository / "integrations/claude"):
        report = person.run("claude", "plugin", "validate", "--strict", str(folder))
        assert "Validation passed" in report
    person.run("claude", "plugin", "marketplace", "add", str(person.repository))
    person.run("claude", "plugin", "install", "tabhub@tabhub")
    details = person.run("claude", "plugin", "details", "tabhub@tabhub")
    assert "Skills (1)" in details and "MCP servers (1)" in details
    (line,) = [one for one in person.run("claude", "mcp", "list").splitlines() if "uvx" in one]
    assert "connected" in line.lower()


def test_gemini_installs_the_extension_and_reaches_tabhub(person: Person) -> None:
    folder = str(person.repository)
    assert "successfully validated" in person.run("gemini", "extensions", "validate", folder)
    # Its own answer to whether it may trust the folder, which it asks a person about.
    (person.home / ".gemini").mkdir(exist_ok=True)
    (person.home / ".gemini" / "settings.json").write_text(
        json.dumps({"security": {"folderTrust": {"enabled": False}}})
    )
    person.run("gemini", "extensions", "install", folder, "--consent")
    listed = person.run("gemini", "extensions", "list")
    assert "GEMINI.md" in listed and "tabhub" in listed
    (line,) = [one for one in person.run("gemini", "mcp", "list").splitlines() if "uvx" in one]
    assert "connected" in line.lower()
