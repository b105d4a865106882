"""The files of the audit log: rotation, retention, beginnings without an end, a failing disk."""

import os
import sys
import time
from pathlib import Path

import pytest

from tabhub.audit import files
from tabhub.audit.files import AuditFile, files_of, lines_of, read
from tabhub.audit.log import AuditLog
from tabhub.config.settings import AuditSettings
from tabhub.errors import NotFound, Unavailable
from tests.audit.events import event, written

DAY = 24 * 60 * 60.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"


@pytest.fixture
def log(path: Path) -> AuditLog:
    return AuditLog(path, AuditSettings())


# -- retention -----------------------------------------------------------------------------------


def test_all_files_together_stay_below_the_ceiling(path: Path) -> None:
    log = AuditLog(path, AuditSettings(max_bytes=2_000, disk_bytes=9_000))
    for number in range(200):
        log.record(event(tool=str(number)))
        assert sum(file.stat().st_size for file in files_of(path)) <= 9_000
    assert len(files_of(path)) == 4


def test_a_file_larger_than_half_the_ceiling_is_not_begun(path: Path) -> None:
    log = AuditLog(path, AuditSettings(max_bytes=50_000, disk_bytes=9_000))
    for number in range(100):
        log.record(event(tool=str(number)))
        assert sum(file.stat().st_size for file in files_of(path)) <= 9_000
    assert written(path)[-1]["tool"] == "99"


def test_a_full_file_is_deleted_when_its_time_is_over(path: Path) -> None:
    log = AuditLog(path, AuditSettings(max_bytes=2_000, keep_days=10))
    for number in range(40):
        log.record(event(tool=str(number)))
    log.close()
    newest, *older = files_of(path)
    for days, file in enumerate(older):
        os.utime(file, (0, time.time() - (9 + days) * DAY))
    os.utime(newest, (0, time.time() - 100 * DAY))
    AuditFile(path, AuditSettings(max_bytes=2_000, keep_days=10)).settle()
    assert files_of(path) == [newest, older[0]] and len(older) > 2


def test_a_gap_in_the_numbers_hides_no_file(path: Path) -> None:
    log = AuditLog(path, AuditSettings(max_bytes=2_000))
    for number in range(40):
        log.record(event(tool=str(number)))
    before = len(files_of(path))
    path.with_name("audit.log.2").unlink()
    path.with_name("audit.log.bak").write_text("no number")
    for number in range(5):
        log.record(event(tool=f"later {number}"))
    names = [file.name for file in files_of(path)]
    assert names == ["audit.log", *(f"audit.log.{number}" for number in range(1, before))]


def test_a_file_that_is_rotated_while_it_is_read_is_read_once(path: Path) -> None:
    log = AuditLog(path, AuditSettings(max_bytes=2_000))
    for number in range(30):
        log.record(event(tool=str(number)))
    reading = read(path)
    tools = [next(reading)["tool"]]
    for number in range(10):
        log.record(event(tool=f"later {number}"))
    tools += [entry["tool"] for entry in reading if not entry["tool"].startswith("later")]
    assert tools == [str(number) for number in reversed(range(30))]


def test_files_that_end_before_a_time_are_not_read(path: Path) -> None:
    log = AuditLog(path, AuditSettings(max_bytes=2_000))
    for number in range(20):
        log.record(event(tool=str(number)))
    for file in files_of(path)[1:]:
        os.utime(file, (0, 1_000_000))
    newest = len(path.read_bytes().splitlines())
    assert len(list(lines_of(path, "2001-01-01T00:00:00.000Z"))) == newest < 20


# -- beginnings ----------------------------------------------------------------------------------


def test_a_beginning_is_shown_only_if_no_end_follows(log: AuditLog, path: Path) -> None:
    for id in ("1-a-1", "1-a-2", "1-a-3"):
        log.begin(event(tool=id, call=id))
    log.record(event(tool="1-a-2", call="1-a-2"))
    log.withdraw(event(call="1-a-3"))
    log.record(event(tool="reads"))
    shown = [(entry["tool"], entry["success"], entry.get("interrupted")) for entry in read(path)]
    assert shown == [("reads", True, None), ("1-a-2", True, None), ("1-a-1", False, True)]
    assert [entry["tool"] for entry in read(path, live="1-")] == ["reads", "1-a-2"]
    assert [entry["tool"] for entry in log.entries()] == ["reads", "1-a-2"]
    assert log.counts.summary(event().time)["totalInvocations"] == 2


def test_the_next_server_records_once_what_has_no_end(log: AuditLog, path: Path) -> None:
    log.begin(event(tool="killed", call="1-a-1"))
    log.begin(event(tool="ended", call="1-a-2"))
    log.record(event(tool="ended", call="1-a-2"))
    before = written(path)
    for expected in (["killed"], []):
        later = AuditLog(path, AuditSettings())
        later.recover()
        assert [entry["tool"] for entry in later.entries()] == expected
        assert later.counts.summary(event().time)["totalInvocations"] == 0
        later.close()
    entries = written(path)
    assert sorted(map(str, entries)) == sorted(map(str, before)) and len(entries) == 2


def test_an_end_that_comes_after_all_counts_alone(log: AuditLog, path: Path) -> None:
    """A server that was only slow ends its call after another one has given it up."""
    log.begin(event(tool="slow", call="1-a-1"))
    AuditLog(path, AuditSettings()).recover()
    log.record(event(tool="slow", call="1-a-1"))
    assert [(entry["tool"], entry["success"]) for entry in read(path)] == [("slow", True)]


def test_a_beginning_never_has_a_secret(log: AuditLog, path: Path) -> None:
    typed = {"text": "correct horse", "note": "password=hunter2", "long": "word " * 10_000}
    log.begin(event(arguments=typed, secret_arguments=frozenset({"text"}), call="1-a-1"))
    text = path.read_text()
    assert "correct horse" not in text and "hunter2" not in text
    assert "word word" in text and len(text) < 2_000


@pytest.mark.parametrize("damaged", [b'{"torn', b"\xff\xfe\n", b'{"timestamp":"zzz"}\n', b"[]\n"])
def test_a_damaged_log_keeps_no_server_from_starting(path: Path, damaged: bytes) -> None:
    AuditLog(path, AuditSettings()).begin(event(tool="killed", call="1-a-1"))
    with path.open("ab") as file:
        file.write(damaged)
    later = AuditLog(path, AuditSettings())
    later.recover()
    assert [entry["tool"] for entry in later.entries()] == ["killed"]


def test_a_log_that_cannot_be_read_keeps_no_server_from_starting(path: Path) -> None:
    path.mkdir()
    AuditLog(path, AuditSettings()).recover()


# -- a failing disk ------------------------------------------------------------------------------


def test_what_cannot_be_written_is_written_later_in_order(log: AuditLog, path: Path) -> None:
    log.record(event(tool="before"))
    log.close()
    whole = path.rename(path.with_name("kept"))
    path.symlink_to("/dev/full")
    log.begin(event(tool="changes", call="1-a-1"))
    log.record(event(tool="changes", call="1-a-1"))
    log.record(event(tool="reads"))
    assert log.state() == {"waiting": 3, "lost": 0, "fault": "No space left on device"}
    path.unlink()
    whole.rename(path)
    log.settle(event().time)
    assert [entry["tool"] for entry in written(path)] == ["before", "changes", "reads"]
    assert log.state() == {"waiting": 0, "lost": 0, "fault": None}


def test_calls_with_an_effect_are_kept_before_others_and_then_refused(
    log: AuditLog, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "WAITING_BYTES", 20_000)
    path.symlink_to("/dev/full")
    done = []
    with pytest.raises(Unavailable) as full:
        for number in range(200):
            log.record(event(tool="refused", error=NotFound("no", "unknown_tool")))
            with log.room("ann"):
                log.record(event(tool=f"done {number}"))
                done.append(f"done {number}")
    assert (full.value.reason, full.value.effect) == ("server_unavailable", "none")
    assert log.state()["lost"] > 20 and len(done) > 20
    path.unlink()
    with log.room("ann"):
        log.record(event(tool="after"))
    tools = [entry["tool"] for entry in written(path)]
    assert [tool for tool in tools if tool != "refused"] == [*done, "after"]


def test_a_failing_disk_uses_up_no_file_handles(log: AuditLog, path: Path) -> None:
    path.write_text("half a line")
    log.record(event())
    os.truncate(path, 5)
    log.close()
    before = len(os.listdir("/proc/self/fd"))
    path.unlink()
    path.symlink_to("/dev/full")
    for _ in range(50):
        log.record(event())
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("required", [False, True])
def test_a_setting_refuses_calls_while_they_cannot_be_written(path: Path, required: bool) -> None:
    settings = AuditSettings(required=required)
    log = AuditLog(path, settings)
    path.symlink_to("/dev/full")
    log.room("ann")
    log.record(event())
    if not required:
        log.room("ann")
        log.begin(event(call="1-a-1"))
        return
    for refuse in (lambda: log.room("ann"), lambda: log.begin(event(call="1-a-1"))):
        with pytest.raises(Unavailable, match="Nothing was done") as refusal:
            refuse()
        assert refusal.value.reason == "server_unavailable"
    # The person can change the setting while the server runs.
    settings.required = False
    log.room("ann")


@pytest.mark.parametrize("system", ["win32", "linux"])
def test_a_file_that_is_followed_on_windows_grows_on(
    path: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    log = AuditLog(path, AuditSettings(max_bytes=2_000))

    def refuse(_self: Path, _target: Path) -> Path:
        raise PermissionError(13, "in use by another process")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        patch.setattr(sys, "platform", system)
        for number in range(30):
            log.record(event(tool=str(number)))
    tools = [entry["tool"] for entry in written(path)]
    if system == "win32":
        assert tools == [str(number) for number in range(30)]
        log.record(event(tool="last"))
        assert [entry["tool"] for entry in written(path)][-1] == "last"
        assert path.with_name("audit.log.1").exists()
    else:
        assert len(tools) < 30
