"""Files that several processes use: their locks, and replacing one that another reads.

The system releases a lock when its process ends, however it ends.
"""

import os
import sys
import time
from pathlib import Path

BINARY = getattr(os, "O_BINARY", 0)
"""For `os.open`: without it, Windows changes line ends."""
_LOCKED_BYTE = 1 << 30
"""Behind all that is in the file, because on Windows nobody else can read a locked byte."""
_POLL_SECONDS = 0.05
_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def try_lock(handle: int) -> bool:
    """Lock an open file; False if another open file has the lock."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def wait_for_lock(handle: int) -> None:
    if sys.platform == "win32":
        while not try_lock(handle):
            # The system's own way to wait gives up after ten seconds.
            time.sleep(_POLL_SECONDS)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)


def close_locked(handle: int) -> None:
    """Release the lock and close the file."""
    try:
        if sys.platform == "win32":
            import msvcrt

            # After a mere close, Windows releases it some time later.
            os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
    finally:
        os.close(handle)


def is_busy(error: OSError) -> bool:
    """Whether a file could not be renamed because another process has it open."""
    return sys.platform == "win32" and isinstance(error, PermissionError)


def replace(new: str, path: Path) -> None:
    """Give a new file the path of an old one."""
    for pause in _PAUSES if sys.platform == "win32" else ():
        try:
            return os.replace(new, path)
        except PermissionError:
            # There, a file cannot be replaced while another process reads it.
            time.sleep(pause)
    os.replace(new, path)


def is_replaceable(path: Path) -> bool:
    """Whether `replace` would work now. Nothing changes: the file only gets the name that it has,
    which Windows refuses as it refuses another name while a program has the file open."""
    real = os.path.realpath(path)
    try:
        os.rename(real, real)
    except PermissionError:
        return False
    except OSError:
        return True
    return True


def read_at(handle: int, size: int, place: int) -> bytes:
    """Read a few bytes of a file that is open for reading; moves its position."""
    os.lseek(handle, place, os.SEEK_SET)
    return os.read(handle, size)
