"""Programs and processes for the tests of the launcher."""

from pathlib import Path

import pytest


def script(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


_EXITING = 0x4
"""The kernel's flag of a process that has begun to end: its files may be closed already."""


def fields(process: Path) -> list[str]:
    """State, parent, group and so on, as in proc(5)."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def is_alive(stat: list[str]) -> bool:
    return bool(stat) and stat[0] not in "ZX" and not int(stat[6]) & _EXITING


def carries(process: Path, mark: str) -> bool:
    try:
        return mark.encode() in (process / "environ").read_bytes()
    except OSError:
        return False


def living(group: int | None, mark: str = "no mark") -> set[int]:
    """Processes of a group, or with a mark in their environment, that are not exiting."""
    pids = set()
    for process in Path("/proc").glob("[0-9]*"):
        stat = fields(process)
        if is_alive(stat) and (int(stat[2]) == group or carries(process, mark)):
            pids.add(int(process.name))
    return pids


CHROMIUM = "Chromium 156.0.1"
TAKES_PROFILE = """
for flag in "$@"; do case $flag in --user-data-dir=*) dir=${flag#*=};; esac; done
ln -sfn "$(hostname)-$$" "$dir/SingletonLock"
"""
STAYS = "while :; do sleep 60 & wait $!; done"
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
