"""Writing files that other processes read: whole or not at all, and for their owner only."""

import os
import tempfile
from pathlib import Path


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
