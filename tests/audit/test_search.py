"""Searching the audit log: pages of bounded time, and lines that are not entries."""

from pathlib import Path
from typing import Any

import pytest

from tabhub.audit import search as searching
from tabhub.audit.files import Position
from tabhub.audit.log import AuditLog
from tabhub.audit.search import AuditFilter, cursor_of, position_of, search
from tabhub.config.settings import AuditSettings
from tabhub.errors import InvalidArguments
from tests.audit.events import event


def log_in(path: Path, **settings: Any) -> AuditLog:
    return AuditLog(path / "audit.log", AuditSettings(**settings))


def found(log: AuditLog, before: Position | None = None, **sought: Any) -> list[str]:
    page = search(log.located(before), AuditFilter(**sought), 100, 10**9)
    return [one.entry["tool"] for one in page.found]


def test_a_search_that_takes_too_long_goes_on_in_the_next_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_in(tmp_path)
    log.record(event(tool="the_first"))
    for _ in range(1200):
        log.record(event(tool="other"))
    monkeypatch.setattr(searching, "SCAN_SECONDS", -1.0)
    pages, before, tools = 0, None, []
    while True:
        page = search(log.located(before), AuditFilter(tool="the_first"), 10, 10**9)
        tools += [one.entry["tool"] for one in page.found]
        pages, before = pages + 1, page.next
        if before is None:
            break
    assert tools == ["the_first"]
    assert pages == 3, "two pages of 500 lines, and the rest"


def test_a_page_ends_when_it_is_large_but_has_one_entry_at_least(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    for number in range(3):
        log.record(event(tool=f"t{number}", arguments={"note": "x" * 1000}))
    page = search(log.located(), AuditFilter(), 100, 10)
    assert [one.entry["tool"] for one in page.found] == ["t2"]
    assert found(log, page.next) == ["t1", "t0"]


def test_beginnings_and_damaged_lines_are_not_entries(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log.begin(event(tool="began", call="1-a-1"))
    log.record(event(tool="began", call="1-a-1"))
    log.begin(event(tool="gone", call="1-a-2"))
    log.withdraw(event(tool="gone", call="1-a-2"))
    with (tmp_path / "audit.log").open("a") as file:
        file.write('{"torn\n[1]\n\n')
    log.record(event(tool="last"))
    assert found(log) == ["last", "began"]


def test_a_call_without_an_end_is_found_after_the_next_start(tmp_path: Path) -> None:
    log_in(tmp_path).begin(event(tool="killed", call="1-a-1"))
    later = log_in(tmp_path)
    later.recover()
    assert found(later) == ["killed"]
    assert found(later, outcome="failed") == ["killed"]


def test_lines_that_cannot_be_written_are_found_in_memory(tmp_path: Path) -> None:
    log = log_in(tmp_path / "missing")
    log.record(event(tool="a"))
    log.record(event(tool="b"))
    assert log.state()["waiting"] == 2
    page = search(log.located(), AuditFilter(), 1, 10**9)
    assert [one.entry["tool"] for one in page.found] == ["b"]
    assert found(log, page.next) == ["a"]


@pytest.mark.parametrize("position", [Position(0, 0), Position(123456789, 2**40)])
def test_a_cursor_stands_for_a_position(position: Position) -> None:
    assert position_of(cursor_of(position)) == position


@pytest.mark.parametrize("wrong", ["", "x", "1", "-1-2", "1-2-3", "1-2\n", "f" * 17 + "-1"])
def test_other_words_are_no_cursor(wrong: str) -> None:
    with pytest.raises(InvalidArguments):
        position_of(wrong)


@pytest.mark.parametrize(
    ("verdict", "reason", "outcome"),
    [
        ("allowed", None, "done"),
        ("replayed", None, "done"),
        ("denied", "permission_denied", "refused"),
        ("refused", "invalid_arguments", "refused"),
        ("throttled", "rate_limited", "refused"),
        ("refused", "paused_by_person", "refused"),
        ("allowed", "paused_by_person", "cancelled"),
        ("asked", "cancelled_by_person", "cancelled"),
        ("denied", "cancelled", "cancelled"),
        ("allowed", "timeout", "failed"),
    ],
)
def test_an_outcome_follows_from_verdict_and_reason(
    verdict: str, reason: str | None, outcome: str
) -> None:
    entry = {"verdict": verdict, **({"error": {"reason": reason}} if reason else {})}
    assert searching.entry_outcome(entry) == outcome
