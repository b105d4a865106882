"""Servers to measure, each in its own process, and their CPU and memory. Linux only."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEGABYTE = 1024 * 1024


def cpu_seconds(pid: int) -> float:
    """User and system time of a process with all its threads, to the nanosecond."""
    # The result of clock_getcpuclockid, which Python lacks; /proc has only ticks of 10 ms.
    return time.clock_gettime((~pid << 3) | 2)


def group_cpu_seconds(group: int) -> float:
    """The same for all processes of a group together."""
    return sum(_cpu_if_alive(pid) for pid in _processes() if _group_of(pid) == group)


def _processes() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _cpu_if_alive(pid: int) -> float:
    try:
        return cpu_seconds(pid)
    except OSError:
        return 0.0


def rss_megabytes(pid: int) -> float:
    """The resident memory of a process."""
    return _megabytes(pid, "VmRSS:")


def peak_megabytes(pid: int) -> float:
    """The most resident memory that the process has had."""
    return _megabytes(pid, "VmHWM:")


def _megabytes(pid: int, field: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024 / MEGABYTE
    raise RuntimeError(f"process {pid} is gone")


class Child:
    """A server that has printed its port."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        self.pid = process.pid
        self.port = int(process.stdout.readline())


@contextmanager
def busy_client(module: str, port: int) -> Iterator[None]:
    """Run a module that uses the server in a loop; begins when it has printed a line."""
    command = [sys.executable, "-m", module, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield
        finally:
            process.terminate()


@contextmanager
def server(module: str, *arguments: str) -> Iterator[Child]:
    """Run a module that prints its port and serves until it is terminated."""
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Child(process)
        finally:
            process.terminate()
