"""Who may use a file. On Windows that is not in its mode: a folder passes its rights on.

There, a folder that is made with mode 0700 is for its user and the administrators only, and so is
everything in it; the bits of a mode say nothing.
"""

import os
import sys
from pathlib import Path

OTHERS, OTHERS_WRITE = 0o077, 0o022


def shows_rights() -> bool:
    """Whether modes say what other users may do."""
    return sys.platform != "win32"


def others_can(status: os.stat_result, what: int = OTHERS) -> bool:
    """Whether other users may do any of this with a file."""
    return shows_rights() and bool(status.st_mode & what)


def is_own(status: os.stat_result) -> bool:
    """Whether a file belongs to the user of this process."""
    if sys.platform == "win32":
        return True
    else:
        return status.st_uid == os.geteuid()


def give_owner_of(known: os.stat_result, path: str) -> None:
    """Give a file the owner and group of another one."""
    if sys.platform != "win32":
        status = os.stat(path)
        if (status.st_uid, status.st_gid) != (known.st_uid, known.st_gid):
            os.chown(path, known.st_uid, known.st_gid)


def private_folder(path: Path) -> Path:
    """Make a folder for its owner only; leave an existing one as it is."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


def is_root() -> bool:
    """Whether this process may do everything, so that a browser refuses its sandbox."""
    if sys.platform == "linux":
        return os.geteuid() == 0
    else:
        return False
