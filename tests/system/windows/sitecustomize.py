"""Makes this interpreter lack what Python lacks on Windows. Python imports it by its name at start.

A folder on PYTHONPATH reaches the processes that a command starts, too. The few things that only
Windows has are imitated; libraries, which know the system from their import, are imported before.
"""

import asyncio
import fcntl
import os
import signal
import socket
import subprocess
import sys
import types
from contextlib import suppress
from typing import Any, NoReturn

LIBRARIES = (
    *("PIL.Image", "multiprocessing.pool", "rich.console", "rich.progress", "sqlite3", "ssl"),
    *("typer", "uvicorn", "websockets", "zoneinfo"),
)
for library in LIBRARIES:
    with suppress(ImportError):
        __import__(library)

MODULES = (
    *("crypt", "fcntl", "grp", "nis", "posix_ipc", "pty", "pwd", "readline", "resource", "spwd"),
    *("syslog", "termios", "tty", "uvloop"),
)
FUNCTIONS = (
    *("chown", "chroot", "fchmod", "fchown", "fork", "forkpty", "getegid", "geteuid", "getgid"),
    *("getgroups", "getpgid", "getpgrp", "getsid", "getuid", "killpg", "lchown", "mkfifo", "mknod"),
    *("nice", "openpty", "pread", "pwrite", "sendfile", "setpgid", "setsid"),
    *("setuid", "sysconf", "uname", "wait3", "wait4", "O_DIRECTORY", "O_NOCTTY"),
    *("O_NOFOLLOW", "O_NONBLOCK"),
)
SIGNALS = (
    *("SIGALRM", "SIGCONT", "SIGHUP", "SIGPIPE", "SIGQUIT", "SIGSTOP"),
    *("SIGUSR1", "SIGUSR2", "SIGWINCH", "alarm", "pause", "pthread_kill", "pthread_sigmask"),
    *("setitimer", "sigwait"),
)
HIDDEN = frozenset({"SIGCHLD", "SIGKILL", "WNOHANG", "set_blocking"})
"""What asyncio itself needs on Linux, and only tabhub must do without."""
NOBODY, RUNS, ENDED = 87, 0x102, 0
_kill, _popen = os.kill, subprocess.Popen.__init__


class HidingModule(types.ModuleType):
    def __getattribute__(self, name: str) -> Any:
        if name in HIDDEN and sys._getframe(1).f_globals.get("__name__", "").startswith("tabhub"):
            raise AttributeError(f"Windows has no {name}")
        return super().__getattribute__(name)


def _locking(handle: int, mode: int, _count: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_UN if mode == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(13, "Permission denied") from None


def _open_process(_access: int, _inherit: bool, pid: int) -> int:
    try:
        _kill(pid, 0)
    except ProcessLookupError:
        raise OSError(NOBODY, "The parameter is incorrect") from None
    return pid


def _wait_for(pid: int, _milliseconds: int) -> int:
    with open(f"/proc/{pid}/stat") as file:
        return ENDED if file.read().rpartition(")")[2].split()[0] in "ZX" else RUNS


def _terminate(pid: int, number: int) -> None:
    """Whatever the signal is, the process ends at once."""
    if number == 0:
        raise AssertionError("os.kill(pid, 0) would end the process on Windows")
    _kill(pid, 9)


def _no_handler(*_: object) -> NoReturn:
    raise NotImplementedError


def _started(self: Any, *arguments: Any, creationflags: int = 0, **options: Any) -> None:
    """A group of its own, as both flags together mean."""
    _popen(self, *arguments, start_new_session=creationflags != 0, **options)


def _fake(name: str, **members: Any) -> None:
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


_fake("msvcrt", LK_UNLCK=0, LK_NBLCK=2, locking=_locking, get_osfhandle=int)
_fake(
    "_winapi",
    OpenProcess=_open_process,
    WaitForSingleObject=_wait_for,
    CloseHandle=lambda handle: None,
)
for module in MODULES:
    sys.modules[module] = None  # type: ignore[assignment]
for owner, names in ((os, FUNCTIONS), (signal, SIGNALS), (socket, ("SO_REUSEPORT",))):
    for name in names:
        with suppress(AttributeError):
            delattr(owner, name)
os.__class__ = signal.__class__ = HidingModule
os.kill = _terminate
subprocess.Popen.__init__ = _started  # type: ignore[method-assign]
vars(subprocess).update(CREATE_NEW_PROCESS_GROUP=0x200, CREATE_NO_WINDOW=0x8000000)
# The closest that Linux has: the port is taken, and nobody can share it.
vars(socket)["SO_EXCLUSIVEADDRUSE"] = socket.SO_KEEPALIVE
asyncio.SelectorEventLoop.add_signal_handler = _no_handler  # type: ignore[assignment]
sys.platform = "win32"
