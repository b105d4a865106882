"""Forks of this process, which Windows does not have: ask `can_fork` before."""

import os
import signal
import sys


def can_fork() -> bool:
    return sys.platform != "win32"


def fork() -> int:
    """The new process in the old one, 0 in the new one."""
    if sys.platform == "win32":
        raise NotImplementedError
    else:
        return os.fork()


def exit_code(child: int) -> int | None:
    """How a fork has ended; None if it runs."""
    if sys.platform == "win32":
        raise NotImplementedError
    else:
        found, status = os.waitpid(child, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if found else None


def signals() -> tuple[signal.Signals, ...]:
    """Those that the parent of forks takes: one has ended, or all should."""
    if sys.platform == "win32":
        raise NotImplementedError
    else:
        return (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM)


def never_block(*files: int) -> None:
    """A signal is dropped rather than waited for."""
    if sys.platform == "win32":
        raise NotImplementedError
    else:
        for file in files:
            os.set_blocking(file, False)
