"""The line that says what a command waits for: on a terminal, on a simple one, and in a pipe."""

import io
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from tabhub.calls import approvals
from tabhub.cli import waiting
from tabhub.cli.tool import calling
from tabhub.cli.tool.calling import APPROVAL, YOUR_YES, ProgressBar
from tabhub.cli.waiting import CLEAR_LINE, WaitingLine
from tests.support.eventually import eventually_sync


class Stderr(io.StringIO):
    """What was written to a terminal, or to a pipe."""

    encoding = "utf-8"

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def wait_for(self, words: str) -> str:
        eventually_sync(lambda: words in self.getvalue(), words)
        return self.getvalue()


@pytest.fixture
def stderr(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Stderr:
    """A terminal of 80 columns unless a test asks for another kind."""
    kind = getattr(request, "param", "xterm")
    found = Stderr(is_terminal=kind != "pipe")
    monkeypatch.setenv("TERM", "xterm" if kind == "pipe" else kind)
    monkeypatch.setenv("COLUMNS", "80")
    # pytest puts its own stderr in place between this fixture and the test.
    for module in (waiting, calling):
        monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=found))
    return found


SIMPLE = pytest.mark.parametrize("stderr", ["dumb", "pipe"], indirect=True)


def test_a_terminal_gets_a_line_that_moves_counts_and_is_gone_at_the_end(stderr: Stderr) -> None:
    with WaitingLine("Waiting", quiet_seconds=0) as line:
        stderr.wait_for("⠋ Waiting (0 s)")
        stderr.wait_for("⠙ Waiting")
        line.says = "Still waiting"
        stderr.wait_for("Still waiting (")
    assert stderr.getvalue().endswith(CLEAR_LINE)


def test_a_short_wait_shows_nothing(stderr: Stderr) -> None:
    with WaitingLine("Waiting"):
        pass
    assert stderr.getvalue() == ""


@pytest.mark.parametrize("stderr", ["dumb"], indirect=True)
def test_a_terminal_that_cannot_redraw_gets_the_sentence_once(stderr: Stderr) -> None:
    with WaitingLine("Waiting", quiet_seconds=0):
        stderr.wait_for("Waiting ...\n")
    assert stderr.getvalue() == "Waiting ...\n"


@pytest.mark.parametrize("stderr", ["pipe"], indirect=True)
def test_a_pipe_gets_nothing(stderr: Stderr) -> None:
    with WaitingLine("Waiting", quiet_seconds=0):
        pass
    assert stderr.getvalue() == ""


def test_a_line_inside_another_one_is_not_drawn(stderr: Stderr) -> None:
    with WaitingLine("Outside", quiet_seconds=0), WaitingLine("Inside", quiet_seconds=0):
        stderr.wait_for("⠙ Outside")
    assert "Inside" not in stderr.getvalue()


def test_a_long_sentence_is_cut_and_the_seconds_are_not(stderr: Stderr) -> None:
    with WaitingLine("x" * 200, quiet_seconds=0):
        shown = stderr.wait_for("x (0 s)")
    assert all(len(part) < 80 for part in shown.split(CLEAR_LINE))


def test_what_is_printed_above_stands_without_the_line(
    stderr: Stderr, capsys: pytest.CaptureFixture[str]
) -> None:
    with WaitingLine("Waiting", quiet_seconds=0) as line:
        stderr.wait_for("Waiting (")
        line.above("a line")
    assert capsys.readouterr().out == "a line\n"


def heartbeat(beat: int) -> dict[str, Any]:
    return {"progress": beat / 1000, "message": f"{APPROVAL}browser_open_tab"}


def test_a_call_that_needs_a_yes_says_where_and_how_long(
    stderr: Stderr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "QUIET_SECONDS", 0)
    with ProgressBar("browser_open_tab") as bar:
        for beat in range(3):
            bar.update(heartbeat(beat))
        shown = stderr.wait_for(f"{YOUR_YES} (0 of 120 s)")
    assert "━" not in shown


@SIMPLE
def test_where_no_line_can_be_drawn_the_need_of_a_yes_is_printed_once(stderr: Stderr) -> None:
    with ProgressBar("browser_open_tab") as bar:
        for beat in range(3):
            bar.update(heartbeat(beat))
    assert stderr.getvalue() == f"{YOUR_YES} (within 120 s)\n"


@SIMPLE
def test_progress_is_no_bar_where_none_can_be_drawn(stderr: Stderr) -> None:
    with ProgressBar("x") as bar:
        bar.update({"progress": 1, "total": 2, "message": "half"})
    assert stderr.getvalue() == ""


async def test_the_server_reports_a_waiting_call_in_these_words() -> None:
    reports = count()
    said: list[str] = []

    async def report(progress: float, total: float | None, message: str) -> None:
        said.append(message)
        if next(reports) == 0:
            raise OSError

    call: Any = SimpleNamespace(report=report)
    request: Any = SimpleNamespace(tool=SimpleNamespace(name="x"))
    await approvals._heartbeat(call, request)
    assert said == [f"{APPROVAL}x"]
