"""A command in its own terminal, as a person runs it."""

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tests.support.eventually import PATIENCE


class TerminalOutput(NamedTuple):
    returncode: int
    text: str
    """All that was written to the terminal, by stdout and stderr."""


class Terminal:
    """A running command in a terminal of its own, to which a test types what a person would."""

    def __init__(
        self, environment: Mapping[str, str], *arguments: str, columns: int = 80, **more: str
    ) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, columns))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tabhub", *arguments],
            env={**_terminal(environment), **more},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_adopt_terminal,
        )
        os.close(theirs)
        self.text = ""
        """All that was written so far."""

    def wait_for(self, words: str) -> str:
        """Read until these words have been written; returns all text up to now."""
        while words not in self.text and self._read():
            pass
        assert words in self.text, f"{words!r} did not come: {self.text}"
        return self.text

    def type(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def read_what_is_there(self) -> None:
        """Read without waiting for more."""
        while select.select([self._ours], [], [], 0)[0] and self._read():
            pass

    def end(self) -> int:
        """Read to the end; returns the exit code."""
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        if not select.select([self._ours], [], [], PATIENCE)[0]:
            raise AssertionError(f"nothing was written for {PATIENCE:.0f} s after {self.text!r}")
        try:
            part = os.read(self._ours, 65536)
        except OSError:
            # On Linux, the end of a terminal whose other side is closed.
            return False
        self.text += part.decode(errors="replace").replace("\r\n", "\n")
        return bool(part)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self._ours)


def _adopt_terminal() -> None:
    """Make stdin the controlling terminal, so that Ctrl-C typed there is a signal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def in_terminal(
    environment: Mapping[str, str],
    *arguments: str,
    columns: int = 80,
    typed: bytes = b"",
    variables: Mapping[str, str] = MappingProxyType({}),
) -> TerminalOutput:
    """Run tabhub to its end in a terminal of this width; the input is typed in advance."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    process = subprocess.Popen(
        [sys.executable, "-m", "tabhub", *arguments],
        env={**_terminal(environment), **variables},
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
