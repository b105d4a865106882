"""Runs the public MCP suites against the fixture: `python -m tests.conformance.run`.

The verdict is read from the files that a suite writes, not from its exit code: a suite that
breaks off leaves checks missing, and that must not look like success.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.server import HOST, PATH
from tests.support.eventually import eventually_sync
from tests.support.http_client import free_port

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "tests" / "npm" / "node_modules"
NODE = PACKAGES / "node" / "bin" / "node"
_FOLDER = re.compile(r"^server-|-\d{4}-\d\d-\d\dT[\dZ-]+$")
START_SECONDS = 20.0
SUITE_SECONDS = 600.0


@dataclass(frozen=True)
class Suite:
    """One command of one release of the suites."""

    name: str
    package: str
    arguments: tuple[str, ...]
    scenarios: int
    """The number of scenarios; fewer results mean that the run was aborted."""


SUITES = (
    Suite("0.1.16", "conformance-stable", (), 32),
    Suite("0.2.0, 2025-11-25", "conformance-next", ("--spec-version", "2025-11-25"), 33),
    Suite("0.2.0, 2026-07-28", "conformance-next", ("--spec-version", "2026-07-28"), 40),
)


@dataclass(frozen=True)
class Check:
    """One verdict of a suite."""

    scenario: str
    id: str
    status: str
    message: str

    def __str__(self) -> str:
        return f"{self.status} {self.scenario} / {self.id}: {self.message}"


@dataclass(frozen=True)
class Outcome:
    """All verdicts of one suite, and its output in case verdicts are missing."""

    suite: Suite
    checks: list[Check]
    output: str

    def having(self, status: str) -> list[Check]:
        return [check for check in self.checks if check.status == status]

    @property
    def passed(self) -> int:
        return len(self.having("SUCCESS"))

    def faults(self) -> list[str]:
        """Failed checks, and scenarios without a result."""
        failed = [str(check) for check in self.having("FAILURE")]
        ran = len({check.scenario for check in self.checks})
        if ran < self.suite.scenarios:
            missing = f"only {ran} of {self.suite.scenarios} scenarios left a result"
            failed.append(f"{missing}; the output of the suite:\n{self.output[-2000:]}")
        return failed


@contextmanager
def fixture_server() -> Iterator[str]:
    """Run a fixture server in its own process; its URL."""
    port = free_port()
    command = [sys.executable, "-m", "tests.conformance.server", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        _wait_listening(process, port)
        yield f"http://{HOST}:{port}{PATH}"
    finally:
        process.terminate()
        process.wait()


def run_suite(suite: Suite, url: str) -> Outcome:
    with tempfile.TemporaryDirectory() as results:
        program = PACKAGES / suite.package / "dist" / "index.js"
        command = [str(NODE), str(program), "server", "--url", url, "--suite", "all"]
        process = subprocess.run(
            [*command, *suite.arguments, "-o", results],
            cwd=results,
            env=os.environ | {"NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SUITE_SECONDS,
            check=False,
        )
        return Outcome(suite, list(_read_checks(Path(results))), process.stdout)


def _read_checks(results: Path) -> Iterator[Check]:
    for path in sorted(results.rglob("checks.json")):
        for raw in json.loads(path.read_text(encoding="utf-8")):
            yield Check(_scenario(path), raw["id"], raw["status"], _message(raw))


def _scenario(checks: Path) -> str:
    """The name of a scenario, from a folder name with a prefix and a time."""
    return _FOLDER.sub("", checks.parent.name)


def _message(raw: dict[str, Any]) -> str:
    text = raw.get("errorMessage") or raw.get("description", "")
    details = raw.get("details")
    return f"{text} {json.dumps(details)[:1000]}" if details else str(text)


def _wait_listening(process: subprocess.Popen[bytes], port: int) -> None:
    def answers() -> bool:
        if process.poll() is not None:
            raise RuntimeError("The fixture server did not start.")
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            return False
        return True

    eventually_sync(answers, "the fixture server to listen", seconds=START_SECONDS)


def _report(outcome: Outcome) -> None:
    faults = outcome.faults()
    print(f"{outcome.suite.name}: {outcome.passed} passed, {len(faults)} failed")
    for line in (*faults, *map(str, outcome.having("WARNING"))):
        print(f"  {line}")


def main() -> int:
    with fixture_server() as url:
        outcomes = [run_suite(suite, url) for suite in SUITES]
    for outcome in outcomes:
        _report(outcome)
    failed = sum(len(outcome.faults()) for outcome in outcomes)
    print(f"{sum(outcome.passed for outcome in outcomes)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
