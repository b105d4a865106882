"""Processes on systems without /proc: what their own programs print is understood."""

import os
import sys
from pathlib import Path

import pytest

from tabhub.browser.launcher.profile import OpenBrowser, is_held_by, owner
from tabhub.system import processes
from tests.browser.launcher.processes import script


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the system's programs, on a system without /proc."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(processes, "PROC", tmp_path / "no proc")
    return folder


@pytest.fixture
def windows(programs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "platform", "win32")
    return programs


def powershell(programs: Path, **answers: str) -> None:
    """A PowerShell that answers by the cmdlet in its script."""
    cases = [f"*\"{word}\"*) printf '%s\\n' '{answer}';;" for word, answer in answers.items()]
    script(programs / "powershell", 'case "$4" in', *cases, "esac")


def test_macos_shows_command_name_and_listener(programs: Path) -> None:
    script(
        programs / "ps",
        'case "$2$3" in *comm=*) echo /Applications/My.app/my;; *) echo my -x;; esac',
    )
    script(programs / "lsof", '[ "$2" = "-iTCP:9515" ] && echo 4711')
    assert processes.name(4711) == "my"
    assert processes.command(4711) == "my -x"
    assert processes.listener(9515) == 4711
    assert processes.listener(9516) is None


def test_windows_shows_command_name_and_listener(windows: Path) -> None:
    powershell(
        windows,
        **{
            "ProcessId=4711": '"C:\\Program Files\\my.exe" "--flag=a b" -x',
            "Get-Process": "my",
            "LocalPort 9515": "4711",
        },
    )
    assert processes.name(4711) == "my"
    assert processes.command(4711) == "C:\\Program Files\\my.exe --flag=a b -x"
    assert processes.listener(9515) == 4711
    assert processes.listener(9516) is None


def test_without_the_systems_programs_nothing_is_claimed(
    windows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(windows))
    assert (processes.command(1), processes.name(1), processes.listener(1)) == (
        "",
        "a process",
        None,
    )


def test_the_browser_of_a_profile_is_found_on_windows_by_its_lock_and_its_arguments(
    windows: Path, tmp_path: Path
) -> None:
    profile, extension = tmp_path / "my profile", tmp_path / "extension"
    profile.mkdir()
    argument = f'"--user-data-dir={profile}"'
    lines = (
        "12 powershell",
        f"13 chrome.exe --type=renderer {argument}",
        f"14 chrome.exe {argument} --load-extension={extension} --headless=new",
    )
    powershell(windows, **{"Win32_Process |": "\n".join(lines)})
    assert (owner(profile), is_held_by(profile, 14)) == (None, False)
    (profile / "lockfile").touch()
    assert (owner(profile), is_held_by(profile, 14)) == (14, True)


def test_on_windows_a_program_with_a_window_is_asked_and_any_other_is_ended(
    windows: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    script(windows / "taskkill", f'echo "$@" >> {log}', '[ "$2" = 1 ]')
    processes.end_group(1)
    processes.end_group(2)
    processes.end_group(3, at_once=True)
    assert log.read_text().splitlines() == [
        "/PID 1",
        "/PID 2",
        "/PID 2 /T /F",
        "/PID 3 /T /F",
    ]


def test_how_a_person_types_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["C:\\my tools\\tabhub.exe", "start"]
    assert processes.how_to_end(7) == "kill 7"
    assert processes.as_typed(words) == "'C:\\my tools\\tabhub.exe' start"
    monkeypatch.setattr(sys, "platform", "win32")
    assert processes.how_to_end(7) == "taskkill /F /PID 7"
    assert processes.as_typed(words) == '"C:\\my tools\\tabhub.exe" start'


def test_a_left_over_browser_on_windows_is_recognized_by_its_quoted_arguments(
    windows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile, extension = tmp_path / "my profile", tmp_path / "extension"
    profile.mkdir()
    (profile / "lockfile").touch()
    line = f'chrome.exe "--user-data-dir={profile}" --load-extension={extension} --headless=new'
    powershell(windows, **{"ProcessId=14": line, "Win32_Process |": f"14 {line}"})
    monkeypatch.setattr(processes, "is_alive", lambda pid: pid == 14)
    found = OpenBrowser.find(profile, extension)
    assert found is not None and (found.pid, found.is_headless) == (14, True)
