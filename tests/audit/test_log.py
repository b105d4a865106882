"""The audit log in memory and on disk."""

import logging
from pathlib import Path

import pytest

from tabhub.audit.log import KEPT_IN_MEMORY, AuditLog, read
from tabhub.config.settings import AuditSettings
from tabhub.errors import Refused
from tests.audit.events import event


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"


@pytest.fixture
def log(path: Path) -> AuditLog:
    return AuditLog(path, AuditSettings(), ["the-known-secret"])


def test_an_event_is_in_the_file_when_it_has_been_recorded(log: AuditLog, path: Path) -> None:
    log.record(event(tool="one"))
    log.record(event(tool="two"))
    assert [entry["tool"] for entry in read(path)] == ["one", "two"]
    assert list(read(path)) == log.entries()[::-1]
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_newest_come_first_and_may_be_chosen(log: AuditLog) -> None:
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
    kept = log.entries()
    assert (len(kept), kept[0]["tool"], kept[-1]["tool"]) == (KEPT_IN_MEMORY, "504", "5")


def test_without_a_path_nothing_is_written(tmp_path: Path) -> None:
    log = AuditLog(None, AuditSettings())
    log.record(event())
    assert (len(log.entries()), list(tmp_path.iterdir())) == (1, [])


def test_a_full_file_makes_room_and_the_one_before_is_kept(path: Path) -> None:
    log = AuditLog(path, AuditSettings(max_bytes=2_000))
    for number in range(30):
        log.record(event(tool=str(number)))
    older = path.with_name("audit.log.1")
    assert path.stat().st_size <= 2_000
    assert older.stat().st_size <= 2_000
    assert older.stat().st_mode & 0o777 == 0o600
    tools = [entry["tool"] for entry in read(path)]
    assert tools == [str(number) for number in range(30 - len(tools), 30)]
    assert len(tools) > 5


def test_a_torn_line_is_left_out_and_spoils_no_other(log: AuditLog, path: Path) -> None:
    log.record(event(tool="one"))
    with path.open("ab") as file:
        file.write(b'{"tool": "to\xff')
    assert [entry["tool"] for entry in read(path)] == ["one"]
    log.close()
    log.record(event(tool="two"))
    assert [entry["tool"] for entry in read(path)] == ["one", "two"]


def test_nothing_is_read_where_nothing_was_written(path: Path) -> None:
    assert list(read(path)) == []


def test_a_disk_that_fails_is_told_once_and_breaks_no_call(
    path: Path, log: AuditLog, caplog: pytest.LogCaptureFixture
) -> None:
    path.mkdir()
    for _ in range(3):
        log.record(event())
    assert len(log.entries()) == 3
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "audit.log" in caplog.text
    path.rmdir()
    log.record(event(tool="again"))
    assert [entry["tool"] for entry in read(path)] == ["again"]


@pytest.mark.parametrize("redact", [True, False])
def test_a_known_secret_is_never_in_the_file(path: Path, redact: bool) -> None:
    log = AuditLog(path, AuditSettings(redact=redact), ["the-known-secret"])
    log.record(event(arguments={"text": "password=x", "note": "a the-known-secret"}))
    assert "the-known-secret" not in path.read_text()
    assert ("password=x" in path.read_text()) is not redact


def test_the_log_of_the_server_is_never_told_a_secret(
    log: AuditLog, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.mkdir()
    with caplog.at_level(logging.DEBUG):
        log.record(event(arguments={"note": "a the-known-secret"}))
    assert caplog.records
    assert "the-known-secret" not in caplog.text
