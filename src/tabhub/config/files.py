"""Writing files that other processes read: whole or not at all, and for their owner only."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec


def private_folder(path: Path) -> Path:
    """Make a folder for its owner only; one that is there already is left as it is."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


def opened_private(path: str, flags: int) -> int:
    """An opener: the file is its owner's from now on, whoever could read it before."""
    handle = os.open(path, flags, 0o600)
    if os.fstat(handle).st_mode & 0o077:
        os.chmod(path, 0o600)
    return handle


def write_private(path: Path, data: bytes) -> None:
    """Write by rename, with mode 0600 from the first byte on."""
    private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file; it is a file of its own, because the other is replaced."""
    handle = _opened(path)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class Holder(msgspec.Struct):
    """Who has a lock for as long as it lives."""

    pid: int
    leaves_with_server: bool = False


class Hold:
    """A lock that ends with its process, however that ends; it says who has it."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @classmethod
    def take(cls, path: Path, holder: Holder) -> "Hold | None":
        """None if another process has it."""
        handle = _opened(path)
        if not _is_locked_at_once(handle):
            os.close(handle)
            return None
        os.truncate(handle, 0)
        os.pwrite(handle, msgspec.json.encode(holder), 0)
        return cls(handle)

    def release(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def holder(path: Path) -> Holder | None:
    """Who has the lock of a file now."""
    if not _lock_of(path).exists():
        return None
    handle = _opened(path)
    try:
        if _is_locked_at_once(handle):
            return None
        return msgspec.json.decode(os.pread(handle, 1000, 0), type=Holder)
    except msgspec.DecodeError:
        return Holder(0)
    finally:
        os.close(handle)


def _opened(path: Path) -> int:
    private_folder(path.parent)
    return os.open(_lock_of(path), os.O_RDWR | os.O_CREAT, 0o600)


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


def _is_locked_at_once(handle: int) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
