"""Looks at processes that are not our children: whether they run, what they are, their ports."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
_EXITING = 0x4
"""The kernel's flag for a process that is exiting."""
_LISTENING = "0A"
"""The kernel's state of a listening socket."""
_PS_SECONDS = 5.0


def is_alive(pid: int) -> bool:
    """Whether a process of any user runs and is not exiting."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return not _is_ending(pid)


def command(pid: int) -> str:
    """The command line, its words joined by spaces; empty where we cannot read it."""
    try:
        words = (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return "" if PROC.is_dir() else _command_from_ps(pid)
    return words.replace(b"\0", b" ").decode(errors="replace").strip()


def name(pid: int) -> str:
    """The name of a process's program."""
    try:
        return (PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return "a process"


def listener(port: int) -> int | None:
    """The process that listens on a port; None if there is none, or we may not see it."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    if not sockets:
        return None
    processes = PROC.glob("[0-9]*")
    return next((int(process.name) for process in processes if _has(process, sockets)), None)


def _is_ending(pid: int) -> bool:
    """Whether a process is a zombie, or the kernel still frees its memory."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return PROC.is_dir()
    except OSError:
        return False
    return fields[0] in "ZX" or bool(int(fields[6]) & _EXITING)


def _command_from_ps(pid: int) -> str:
    command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PS_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


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
