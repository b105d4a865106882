"""A command in its own terminal, as a person runs it."""

import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Mapping
from typing import NamedTuple

from tests.support.eventually import PATIENCE


class TerminalOutput(NamedTuple):
    returncode: int
    text: str
    """All that was written to the terminal, by stdout and stderr."""


def in_terminal(
    environment: Mapping[str, str], *arguments: str, columns: int = 80, typed: bytes = b""
) -> TerminalOutput:
    """Run tabhub to its end in a terminal of this width; the input is typed in advance."""
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
        return TerminalOutput(process.wait(PATIENCE), text.decode().replace("\r\n", "\n"))
    finally:
        process.kill()
        os.close(ours)


def _terminal(environment: Mapping[str, str]) -> dict[str, str]:
    """Without the variables that would override the size of the terminal."""
    sizes = ("COLUMNS", "LINES")
    kept = {name: value for name, value in environment.items() if name not in sizes}
    return {**kept, "TERM": "xterm-256color"}


def _all_of(terminal: int) -> bytes:
    """Read until the other side has closed the terminal, which Linux reports as an error."""
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
