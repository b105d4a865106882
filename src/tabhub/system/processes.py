"""Processes: whether they run, what they are, their ports, and how to end one with its helpers."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

PROC = Path("/proc")
_EXITING = 0x4
"""The kernel's flag for a process that is exiting."""
_LISTENING = "0A"
"""The kernel's state of a listening socket."""
_ANSWER_SECONDS = 10.0
_SYNCHRONIZE, _STILL_RUNS = 0x0010_0000, 0x102
"""Windows' right to wait for a process, and what waiting says of one that has not ended."""

Question = Literal["command", "name", "listener", "all"]
_UNIX_PROGRAMS: dict[Question, tuple[str, ...]] = {
    "command": ("ps", "-ww", "-o", "command=", "-p", "{}"),
    "name": ("ps", "-o", "comm=", "-p", "{}"),
    "listener": ("lsof", "-nP", "-iTCP:{}", "-sTCP:LISTEN", "-t"),
    "all": ("ps", "-ww", "-A", "-o", "pid=,command="),
}
_POWERSHELL = ("powershell", "-NoProfile", "-NonInteractive", "-Command")
_UTF_8 = "[Console]::OutputEncoding = [Text.Encoding]::UTF8; "
_WINDOWS_SCRIPTS: dict[Question, str] = {
    "command": "(Get-CimInstance Win32_Process -Filter 'ProcessId={}').CommandLine",
    "name": "(Get-Process -Id {}).ProcessName",
    "listener": "(Get-NetTCPConnection -State Listen -LocalPort {}).OwningProcess",
    "all": 'Get-CimInstance Win32_Process | % { "$($_.ProcessId) $($_.CommandLine)" }',
}


def is_alive(pid: int) -> bool:
    """Whether a process of any user runs and is not exiting."""
    if sys.platform == "win32":
        return _is_alive_on_windows(pid)
    else:
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except PermissionError:
            pass
        return not _is_ending(pid)


def _is_alive_on_windows(pid: int) -> bool:
    """There, `os.kill` with any number would end the process."""
    if sys.platform == "win32":
        import _winapi

        try:
            handle = _winapi.OpenProcess(_SYNCHRONIZE, False, pid)
        except PermissionError:
            return True
        except (OSError, OverflowError):
            return False
        try:
            return _winapi.WaitForSingleObject(handle, 0) == _STILL_RUNS
        finally:
            _winapi.CloseHandle(handle)
    else:
        raise NotImplementedError


def command(pid: int) -> str:
    """The command line, its words joined by spaces; empty where we cannot read it."""
    try:
        words = (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return "" if PROC.is_dir() else _unquoted(_answer("command", pid))
    return words.replace(b"\0", b" ").decode(errors="replace").strip()


def started_with(argument: str) -> int | None:
    """The process that has this argument, and is no helper of another one like it."""
    for line in _answer("all").splitlines():
        pid, _, words = line.strip().partition(" ")
        words = f" {_unquoted(words)} "
        if f" {argument} " in words and " --type=" not in words and pid.isdecimal():
            return int(pid)
    return None


def name(pid: int) -> str:
    """The name of a process's program."""
    try:
        return (PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        told = "" if PROC.is_dir() else _answer("name", pid)
        return Path(told).name or "a process"


def listener(port: int) -> int | None:
    """The process that listens on a port; None if there is none, or we may not see it."""
    if not PROC.is_dir():
        first = _answer("listener", port).partition("\n")[0].strip()
        return int(first) if first.isdecimal() else None
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    if not sockets:
        return None
    processes = PROC.glob("[0-9]*")
    return next((int(process.name) for process in processes if _has(process, sockets)), None)


def is_own(pid: int) -> bool:
    """Whether a process belongs to this user, where the system shows that."""
    if sys.platform == "win32":
        return is_alive(pid)
    else:
        try:
            return is_alive(pid) and (PROC / str(pid)).stat().st_uid == os.geteuid()
        except FileNotFoundError:
            # Without /proc, the system itself refuses to signal another user's process.
            return not PROC.is_dir()


def leading_group() -> dict[str, Any]:
    """The options to start a process that leads a group, which Ctrl-C here does not reach."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    else:
        return {"start_new_session": True}


def group_of(pid: int) -> int | None:
    """The process's group, if it leads one; any other group may contain other programs."""
    if sys.platform == "win32":
        return pid
    else:
        try:
            group = os.getpgid(pid)
            return group if group == os.getsid(pid) else None
        except OSError:
            return None


def is_in_group(pid: int, group: int) -> bool:
    """Whether a process is of a group; Windows shows only who leads it."""
    if sys.platform == "win32":
        return pid == group
    else:
        try:
            return os.getpgid(pid) == group
        except OSError:
            return False


def end_group(group: int, *, at_once: bool = False) -> None:
    """Ask all processes of a group to end, or end them; those that have ended do not matter."""
    if sys.platform == "win32":
        # Only a program with a window can be asked.
        if at_once or not _ran(("taskkill", "/PID", str(group))):
            _ran(("taskkill", "/PID", str(group), "/T", "/F"))
    else:
        # macOS raises PermissionError for a group of which only zombies are left.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL if at_once else signal.SIGTERM)


def end(pid: int, *, at_once: bool = False) -> None:
    """The same for one process."""
    if sys.platform == "win32":
        end_group(pid, at_once=at_once)
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL if at_once else signal.SIGTERM)


def how_to_end(pid: int) -> str:
    """The command with which a person ends a process."""
    return f"taskkill /F /PID {pid}" if sys.platform == "win32" else f"kill {pid}"


def as_typed(words: Sequence[str]) -> str:
    """A command as a person types it."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def _answer(question: Question, number: int = 0) -> str:
    """What the system's own program prints; empty if it fails."""
    if sys.platform == "win32":
        script = _UTF_8 + _WINDOWS_SCRIPTS[question].replace("{}", str(number))
        words: Sequence[str] = (*_POWERSHELL, script)
    else:
        words = [word.replace("{}", str(number)) for word in _UNIX_PROGRAMS[question]]
    try:
        done = subprocess.run(words, capture_output=True, timeout=_ANSWER_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace").strip()


def _ran(words: Sequence[str]) -> bool:
    try:
        return subprocess.run(words, capture_output=True, timeout=_ANSWER_SECONDS).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _unquoted(line: str) -> str:
    """Windows shows a command with the quotes of its arguments."""
    return line.replace('"', "") if sys.platform == "win32" else line


def _is_ending(pid: int) -> bool:
    """Whether a process is a zombie, or the kernel still frees its memory."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return PROC.is_dir()
    except OSError:
        return False
    return fields[0] in "ZX" or bool(int(fields[6]) & _EXITING)


def _inodes(port: int) -> Iterator[str]:
    for table in (PROC / "net" / "tcp", PROC / "net" / "tcp6"):
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, address, _, state, *more = line.split()
            if state == _LISTENING and int(address.rpartition(":")[2], 16) == port:
                yield more[5]


def _has(process: Path, sockets: set[str]) -> bool:
    try:
        return any(str(file.readlink()) in sockets for file in (process / "fd").iterdir())
    except OSError:
        return False
