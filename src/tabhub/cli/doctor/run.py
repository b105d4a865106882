"""Runs all checks in order, and prints what they found."""

import sys
from collections.abc import Callable, Iterator

from tabhub.cli import FAILED, running
from tabhub.cli.doctor import checks, plugin_checks, proxy_checks
from tabhub.cli.doctor.finding import Chmod, Finding, Inspection, fail
from tabhub.cli.output import harmless, print_json, styled
from tabhub.cli.own_program import program_text
from tabhub.cli.waiting import WaitingLine
from tabhub.config.paths import Home
from tabhub.errors import TabhubError

Check = Callable[[Inspection], Iterator[Finding]]

CHECKS: dict[str, Check] = {
    "home": checks.home,
    "disk": checks.disk,
    "secret": checks.secrets,
    "files": checks.records,
    "config": checks.config,
    "policy": checks.policy,
    "tokens": checks.tokens,
    "server": checks.server,
    "pid": checks.pid,
    "port": checks.port,
    "settings": checks.in_force,
    "openness": checks.openness,
    "audit": checks.written,
    "browser": checks.browser,
    "extension": checks.extension,
    "connected": checks.connected,
    "left": checks.left,
    "via proxy": proxy_checks.via_proxy,
    "proxy": proxy_checks.served_proxy,
    "plugins": plugin_checks.plugins,
    "agents": checks.agents,
}
ADVICE = {
    "secret": "delete it; `{tabhub} start` creates a new one",
    "config": "repair the file, or set it aside: {tabhub} config reset --confirm",
    "policy": "repair the file",
    "tokens": "repair the file",
}
COLOURS = {"ok": "32", "warn": "33", "fail": "31"}


def run(as_json: bool, fix: bool) -> None:
    home = Home.from_environment()
    with running.skipping_timed_out_ports():
        if fix:
            _repair(home)
        with WaitingLine("Checking"):
            found = list(examine(home))
    good = all(finding.level != "fail" for _, finding in found)
    if as_json:
        print_json({"ok": good, "checks": [finding.as_json(name) for name, finding in found]})
    else:
        for name, finding in found:
            _print(name, finding)
    if not good:
        sys.exit(FAILED)


def examine(home: Home) -> Iterator[tuple[str, Finding]]:
    inspection = Inspection(home)
    for name, check in CHECKS.items():
        try:
            for finding in check(inspection):
                yield name, finding
        except TabhubError as error:
            yield name, fail(error.message, _advice(name))
        except OSError as error:
            yield name, fail(f"{error.filename or name}: {error.strerror or error}.")


def _advice(name: str) -> str | None:
    text = ADVICE.get(name)
    return None if text is None else text.format(tabhub=program_text())


def _repair(home: Home) -> None:
    for _, finding in examine(home):
        if isinstance(finding.do, Chmod):
            finding.do.path.chmod(finding.do.mode)
            print(f"done: {finding.do}", file=sys.stderr)


def _print(name: str, finding: Finding) -> None:
    level = styled(finding.level.ljust(4), COLOURS[finding.level], sys.stdout)
    print(f"{level}  {name.ljust(9)}  {harmless(finding.says)}")
    if finding.do is not None:
        print(f"{'':17}do: {finding.do}")
