"""One process at a time: for files that are read, changed and written back."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tabhub.config.files import private_folder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file; it is a file of its own, because the other is replaced."""
    private_folder(path.parent)
    handle = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
