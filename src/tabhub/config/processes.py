"""Processes of this machine that are not our children: whether they live, and what they are."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
_EXITING = 0x4
"""The kernel's flag of a process that has begun to end."""
_PS_SECONDS = 5.0


def is_alive(pid: int) -> bool:
    """Whether there is such a process, ours or not, that is not on its way out."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return not _is_ending(pid)


def command(pid: int) -> str:
    """The command line, its words joined by spaces; empty where it cannot be known."""
    try:
        said = (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return "" if PROC.is_dir() else _by_ps(pid)
    return said.replace(b"\0", b" ").decode(errors="replace").strip()


def name(pid: int) -> str:
    """What it is called, in a word."""
    try:
        return (PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return "a process"


def _is_ending(pid: int) -> bool:
    """A killed process whose parent has not looked, or whose memory is still being freed."""
    try:
        told = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return PROC.is_dir()
    except OSError:
        return False
    return told[0] in "ZX" or bool(int(told[6]) & _EXITING)


def _by_ps(pid: int) -> str:
    asked = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=_PS_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


_LISTENING = "0A"


def listener(port: int) -> int | None:
    """The process that listens there; None where nobody does, or it is not ours to know."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    if not sockets:
        return None
    return next((int(one.name) for one in PROC.glob("[0-9]*") if _has(one, sockets)), None)


def _inodes(port: int) -> Iterator[str]:
    for table in (PROC / "net" / "tcp", PROC / "net" / "tcp6"):
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, here, _, state, *more = line.split()
            if state == _LISTENING and int(here.rpartition(":")[2], 16) == port:
                yield more[5]


def _has(process: Path, sockets: set[str]) -> bool:
    try:
        return any(str(one.readlink()) in sockets for one in (process / "fd").iterdir())
    except OSError:
        return False
