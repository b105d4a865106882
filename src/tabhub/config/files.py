"""Writes and locks private files that several processes use."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tabhub.system.locks import BINARY, close_locked, read_at, replace, try_lock, wait_for_lock
from tabhub.system.rights import others_can, private_folder


def opened_private(path: str, flags: int) -> int:
    """An opener for `open`: makes the file readable by its owner only, also one that was not."""
    handle = os.open(path, flags, 0o600)
    if others_can(os.fstat(handle)):
        os.chmod(path, 0o600)
    return handle


def write_private(path: Path, data: bytes) -> None:
    """Replace a file as a whole; it has mode 0600 from its first byte on."""
    private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file. The lock is a file beside it, since the file itself is replaced."""
    handle = _opened(path)
    try:
        wait_for_lock(handle)
    except BaseException:
        os.close(handle)
        raise
    try:
        yield
    finally:
        close_locked(handle)


class Holder(msgspec.Struct):
    """The process that holds a lock."""

    pid: int
    leaves_with_server: bool = False


class Hold:
    """A lock that says who holds it and ends with that process, even if the process crashes."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @classmethod
    def take(cls, path: Path, holder: Holder) -> "Hold | None":
        """Take the lock of a file; None if another process has it."""
        handle = _opened(path)
        if not try_lock(handle):
            os.close(handle)
            return None
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, msgspec.json.encode(holder))
        return cls(handle)

    def release(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            close_locked(handle)


def holder(path: Path) -> Holder | None:
    """The process that holds the lock of a file now."""
    if not _lock_of(path).exists():
        return None
    handle = _opened(path)
    if try_lock(handle):
        close_locked(handle)
        return None
    try:
        return msgspec.json.decode(read_at(handle, 1000, 0), type=Holder)
    except msgspec.DecodeError:
        return Holder(0)
    finally:
        os.close(handle)


def _opened(path: Path) -> int:
    private_folder(path.parent)
    return os.open(_lock_of(path), os.O_RDWR | os.O_CREAT | BINARY, 0o600)


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")
