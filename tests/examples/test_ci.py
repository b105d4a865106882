"""`examples/ci`: the lines of the workflow, as they stand, on a machine with nothing but Python."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.built_package import ROOT
from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.http_client import LOOPBACK, free_port

pytestmark = [pytest.mark.real_browser, pytest.mark.slow]
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / "examples/ci/browser-check.yml").read_text())
(JOB,) = WORKFLOW["jobs"].values()
LINES = [step["run"] for step in JOB["steps"] if "run" in step]
(SERVE,) = [lines for lines in LINES if "http.server" in lines]


class Runner:
    """Runs each step in a shell of its own, as GitHub does: what it leaves running goes on."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self.environment = dict(environment)
        self._groups: list[int] = []

    def step(self, lines: str) -> tuple[int, str]:
        # A file, because a program that goes on would keep a pipe open.
        output = self._folder / "output.txt"
        with output.open("w") as file:
            shell = subprocess.Popen(
                ["bash", "-e", "-c", lines],
                cwd=self._folder,
                env=self.environment,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        self._groups.append(shell.pid)
        code = shell.wait(2 * PATIENCE)
        return code, output.read_text()

    def is_served(self) -> bool:
        with (
            suppress(OSError),
            socket.create_connection((LOOPBACK, int(self.environment["SITE_PORT"]))),
        ):
            return True
        return False

    def end(self) -> None:
        for group in self._groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


@contextmanager
def machine(folder: Path, wheelhouse: Path) -> Iterator[Runner]:
    """A checkout with a site in `public`, a new home, and a Python of its own."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "python")], check=True)
    (folder / "home").mkdir()
    checkout = folder / "checkout"
    shutil.copytree(ROOT / "examples" / "site", checkout / "public")
    shutil.copytree(ROOT / "pagekit", checkout / "public" / "pagekit")
    environment = {
        **WORKFLOW["env"],
        "SITE_PORT": str(free_port()),
        "TABHUB_PORT": str(free_port()),
        "HOME": str(folder / "home"),
        "PATH": os.pathsep.join([str(folder / "python" / "bin"), os.environ["PATH"]]),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheelhouse),
    }
    assert {*WORKFLOW["env"]} <= {*environment}
    runner = Runner(checkout, environment)
    try:
        yield runner
    finally:
        runner.step("tabhub stop || true")
        runner.end()


def test_every_line_of_the_workflow_runs_and_a_broken_site_fails(
    tmp_path: Path, wheelhouse: Path
) -> None:
    assert LINES[0] == "pip install tabhub" and LINES[-1] == "tabhub stop"
    checks = [lines for lines in LINES if lines.startswith("tabhub tool")]
    assert len(checks) == 2
    script = tmp_path / "checkout" / "public" / "list.js"
    with machine(tmp_path, wheelhouse) as runner:
        for lines in LINES[:-1]:
            code, output = runner.step(lines)
            assert code == 0, (lines, output)
        assert "Dune" in (tmp_path / "checkout" / "changes.txt").read_text()
        script.write_text(script.read_text().replace("books.push(title);", "throw Error(title);"))
        # At another address, because the browser remembers the first script.
        runner.environment["SITE_PORT"] = str(free_port())
        runner.step(SERVE)
        eventually_sync(runner.is_served, "the second site")
        assert [runner.step(lines)[0] for lines in checks] == [1, 1]
        code, output = runner.step(LINES[-1])
    assert code == 0 and output.startswith("Stopped."), output
