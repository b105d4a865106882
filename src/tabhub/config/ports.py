"""Which process has a port open, as far as this system tells."""

from collections.abc import Iterator
from pathlib import Path

from tabhub.config.processes import PROC

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
