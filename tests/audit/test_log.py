"""The audit log in memory and on disk."""

import logging
from pathlib import Path
from typing import Any

import pytest

from tabhub.audit.limits import FOLD_SECONDS, UNFOLDED
from tabhub.audit.log import KEPT_IN_MEMORY, AuditLog
from tabhub.calls.ports import AuditEvent
from tabhub.config.settings import AuditSettings
from tabhub.errors import NotFound, Refused, from_reason
from tests.audit.events import event, written


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"


@pytest.fixture
def log(path: Path) -> AuditLog:
    return AuditLog(path, AuditSettings(), ["the-known-secret"])


@pytest.mark.document("OT-audit-4")
def test_a_recorded_event_is_in_the_file(log: AuditLog, path: Path) -> None:
    log.record(event(tool="one"))
    log.record(event(tool="two"))
    assert [entry["tool"] for entry in written(path)] == ["one", "two"]
    assert written(path) == log.entries()[::-1]
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_newest_entries_come_first_and_can_be_filtered(log: AuditLog) -> None:
    log.record(event(tool="a"))
    log.record(event(tool="b", error=Refused("no")))
    log.record(event(tool="a", plugin="slack"))
    tools = [(entry["tool"], entry["plugin"]) for entry in log.entries()]
    assert tools == [("a", "slack"), ("b", "browser"), ("a", "browser")]
    assert len(log.entries(limit=2)) == 2
    assert len(log.entries(tool="a")) == 2
    assert len(log.entries(tool="a", plugin="slack")) == 1
    assert [entry["tool"] for entry in log.entries(success=False)] == ["b"]
    assert len(log.entries(success=True)) == 2


def test_memory_keeps_only_the_newest(log: AuditLog) -> None:
    for number in range(KEPT_IN_MEMORY + 5):
        log.record(event(tool=str(number)))
    entries = log.entries()
    assert (len(entries), entries[0]["tool"], entries[-1]["tool"]) == (KEPT_IN_MEMORY, "504", "5")


def test_without_a_path_nothing_is_written(tmp_path: Path) -> None:
    log = AuditLog(None, AuditSettings())
    log.record(event())
    assert (len(log.entries()), list(tmp_path.iterdir())) == (1, [])


@pytest.mark.document("OT-audit-5")
def test_a_full_file_is_rotated_and_the_previous_one_is_kept(path: Path) -> None:
    log = AuditLog(path, AuditSettings(max_bytes=2_000))
    for number in range(30):
        log.record(event(tool=str(number)))
    older = path.with_name("audit.log.1")
    assert path.stat().st_size <= 2_000
    assert older.stat().st_size <= 2_000
    assert older.stat().st_mode & 0o777 == 0o600
    tools = [entry["tool"] for entry in written(path)]
    assert tools == [str(number) for number in range(30 - len(tools), 30)]
    assert len(tools) > 5


@pytest.mark.document("OT-audit-6")
def test_as_many_full_files_as_the_disk_may_hold_are_kept_and_read_in_order(path: Path) -> None:
    log = AuditLog(path, AuditSettings(max_bytes=2_000, disk_bytes=12_000))
    for number in range(200):
        log.record(event(tool=str(number)))
    files = sorted(file.name for file in path.parent.iterdir())
    assert files == ["audit.log", *(f"audit.log.{number}" for number in range(1, 6))]
    tools = [int(entry["tool"]) for entry in written(path)]
    assert tools == list(range(200 - len(tools), 200))
    assert len(tools) > 25


def refusal(reason: str = "unknown_tool", **changes: Any) -> AuditEvent:
    return event(**{"verdict": "refused", "error": NotFound("no", reason), **changes})


def test_repeated_failures_are_merged_into_one_line(log: AuditLog, path: Path) -> None:
    log.record(event(tool="real"))
    for number in range(UNFOLDED + 1000):
        log.record(refusal(tool=f"t{number}"))
    log.record(event(tool="also real"))
    for _ in range(7):
        log.record(refusal("invalid_arguments"))
    assert log.counts.summary(event().time)["totalInvocations"] == UNFOLDED + 1009
    lines = [(entry["tool"], entry.get("times")) for entry in written(path)]
    assert lines == [
        ("real", None),
        *((f"t{n}", None) for n in range(UNFOLDED)),
        ("also real", None),
    ]
    log.record(event(tool="later", time=event().time + FOLD_SECONDS))
    folded = [
        (entry["error"]["reason"], entry["times"]) for entry in written(path) if "times" in entry
    ]
    assert folded == [("unknown_tool", 1000), ("invalid_arguments", 7)]
    assert written(path)[0]["tool"] == "real" and log.entries()[-1]["tool"] == "real"


def test_another_clients_attempts_and_a_new_minute_are_written_again(log: AuditLog) -> None:
    for _ in range(UNFOLDED + 1):
        log.record(refusal())
    log.record(refusal(client="other", tool="other"))
    log.record(refusal(tool="later", time=event().time + FOLD_SECONDS))
    assert [entry["tool"] for entry in log.entries(limit=3)][::2] == ["later", "other"]


def test_merged_counts_are_visible_at_once_and_written_at_the_end(
    log: AuditLog, path: Path
) -> None:
    for _ in range(UNFOLDED + 5):
        log.record(refusal())
    assert log.entries()[0]["times"] == 5
    for _ in range(3):
        log.record(refusal())
    log.close()
    assert [entry.get("times") for entry in written(path)][-2:] == [5, 3]


@pytest.mark.parametrize(
    ("verdict", "reason", "folded"),
    [
        ("denied", "permission_off", True),
        ("refused", "foreign_tab", True),
        ("allowed", "extension_disconnected", True),
        ("allowed", "stale_ref", False),
        ("allowed", "page_may_have_received", False),
        ("asked", "timeout", False),
    ],
)
def test_a_call_that_may_have_had_an_effect_is_always_written(
    log: AuditLog, path: Path, verdict: str, reason: str, folded: bool
) -> None:
    for _ in range(UNFOLDED + 1):
        log.record(event(verdict=verdict, error=from_reason(reason, "no")))
    assert len(written(path)) == UNFOLDED + (0 if folded else 1)


def test_a_torn_line_is_skipped_and_damages_no_other(log: AuditLog, path: Path) -> None:
    log.record(event(tool="one"))
    with path.open("ab") as file:
        file.write(b'{"tool": "to\xff')
    assert [entry["tool"] for entry in written(path)] == ["one"]
    log.close()
    log.record(event(tool="two"))
    assert [entry["tool"] for entry in written(path)] == ["one", "two"]


def test_a_missing_file_has_no_entries(path: Path) -> None:
    assert written(path) == []


def test_a_failing_disk_is_logged_once_and_breaks_no_call(
    path: Path, log: AuditLog, caplog: pytest.LogCaptureFixture
) -> None:
    path.mkdir()
    for _ in range(3):
        log.record(event())
    assert len(log.entries()) == 3
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "audit.log" in caplog.text
    assert log.state() == {"waiting": 3, "lost": 0, "fault": "Is a directory"}
    path.rmdir()
    log.record(event(tool="again"))
    assert len(written(path)) == 4 and written(path)[-1]["tool"] == "again"
    assert log.state() == {"waiting": 0, "lost": 0, "fault": None}


@pytest.mark.parametrize("redact", [True, False])
def test_a_known_secret_is_never_in_the_file(path: Path, redact: bool) -> None:
    log = AuditLog(path, AuditSettings(redact=redact), ["the-known-secret"])
    log.record(event(arguments={"text": "password=x", "note": "a the-known-secret"}))
    assert "the-known-secret" not in path.read_text()
    assert ("password=x" in path.read_text()) is not redact


def test_the_log_of_the_server_never_has_a_secret(
    log: AuditLog, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.mkdir()
    with caplog.at_level(logging.DEBUG):
        log.record(event(arguments={"note": "a the-known-secret"}))
    assert caplog.records
    assert "the-known-secret" not in caplog.text
