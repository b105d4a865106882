"""A command run in a terminal of its own, as a person would."""

import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Mapping
from typing import NamedTuple

from tests.support.eventually import PATIENCE


class Shown(NamedTuple):
    returncode: int
    text: str
    """All that was written to the terminal, by stdout and stderr."""


def in_terminal(
    environment: Mapping[str, str], *arguments: str, columns: int = 80, typed: bytes = b""
) -> Shown:
    """Run tabhub to its end in a terminal of a given width; what is typed waits for it."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    process = subprocess.Popen(
        [sys.executable, "-m", "tabhub", *arguments],
        env=_terminal(environment),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    os.write(ours, typed)
    try:
        text = _all_of(ours)
        return Shown(process.wait(PATIENCE), text.decode().replace("\r\n", "\n"))
    finally:
        process.kill()
        os.close(ours)


def _terminal(environment: Mapping[str, str]) -> dict[str, str]:
    """Its size is its own, not one that a variable names."""
    sizes = ("COLUMNS", "LINES")
    kept = {name: value for name, value in environment.items() if name not in sizes}
    return {**kept, "TERM": "xterm-256color"}


def _all_of(terminal: int) -> bytes:
    """Until the other side has closed it, which Linux tells as an error."""
    read = b""
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            return read
        if not part:
            return read
        read += part
    raise AssertionError(f"the command did not end; it wrote {read!r}")
