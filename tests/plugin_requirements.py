"""A pytest plugin that prints at the end of a run which requirement rows it has proved.

A row counts when a test marked with it passed, none failed, and, if the row is `real`,
one of those that passed ran the real browser. Marks travel as user properties of the
reports, the only part of an item that xdist brings back to the controller.
"""

from collections import Counter

import pytest

from tests.requirements import Row, read_rows


class Tally:
    """The results of one run, by requirement row."""

    def __init__(self, rows: dict[str, Row]) -> None:
        self._rows = rows
        self._passed: set[str] = set()
        self._passed_real: set[str] = set()
        self._failed: set[str] = set()
        self._outcomes: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        ids = {str(value) for name, value in report.user_properties if name == "requirement"}
        if report.failed:
            self._failed |= ids
        elif report.when == "call" and report.passed:
            self._passed |= ids
            if ("real_browser", True) in map(tuple, report.user_properties):
                self._passed_real |= ids
        if report.when == "call" or not report.passed:
            self._outcomes[report.outcome] += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self.lines():
            terminalreporter.write_line(line)

    def lines(self) -> list[str]:
        names = ("passed", "failed", "skipped")
        counts = ", ".join(f"{self._outcomes[name]} {name}" for name in names)
        planned = sum(row.planned for row in self._rows.values())
        covered = sum(map(self._covers, self._rows.values()))
        return [
            f"tests: {self._outcomes.total()} ({counts})",
            f"requirements: {covered} rows covered of {len(self._rows)} ({planned} planned)",
        ]

    def _covers(self, row: Row) -> bool:
        proof = self._passed_real if row.real else self._passed
        return not row.planned and row.id in proof - self._failed


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Tally(read_rows()), "requirement-tally")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        ids = {id for mark in item.iter_markers("requirement") for id in mark.args}
        item.user_properties += [("requirement", id) for id in sorted(ids)]
        if item.get_closest_marker("real_browser"):
            item.user_properties.append(("real_browser", True))
