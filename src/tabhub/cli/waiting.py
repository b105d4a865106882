"""One line on the terminal that says what a command waits for, and for how long.

It stands on stderr, appears after a second, and is gone when the wait is over. A terminal that
cannot redraw a line gets the sentence once; a file or a pipe gets only what a person has to do.
"""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

from tabhub.cli.output import is_capable

QUIET_SECONDS = 1.0
FRAME_SECONDS = 0.15
FRAMES, PLAIN_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"
CLEAR_LINE, LINE_UP = "\r\x1b[K", "\x1b[A"
DONE, PLAIN_DONE = "✓", "ok"


def can_print(text: str) -> bool:
    """Whether the terminal's encoding has these characters."""
    try:
        text.encode(sys.stderr.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def done_mark() -> str:
    return DONE if can_print(DONE) else PLAIN_DONE


def enter_key() -> Callable[[], bool]:
    """Whether Enter was pressed since.

    It is read without Python's own buffer, whose lock a thread that still waits would hold when
    the interpreter ends.
    """
    pressed = threading.Event()

    def read() -> None:
        os.read(sys.stdin.fileno(), 1024)
        if is_capable(sys.stderr):
            # The key has moved the cursor below the line that is to be redrawn or removed.
            _write(LINE_UP)
        pressed.set()

    threading.Thread(target=read, daemon=True).start()
    return pressed.is_set


class WaitingLine:
    """A context in which something is waited for; `says` may change meanwhile.

    Inside another one it draws nothing: the outer line says what the person waits for.
    """

    _open = 0

    def __init__(self, says: str, *, quiet_seconds: float | None = None) -> None:
        self.says = says
        self._quiet = QUIET_SECONDS if quiet_seconds is None else quiet_seconds
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._is_drawn = False
        self._is_said = False
        self._started = time.monotonic()
        self._limit: float | None = None

    def __enter__(self) -> "WaitingLine":
        WaitingLine._open += 1
        if sys.stderr.isatty() and WaitingLine._open == 1:
            draw = self._redraw if is_capable(sys.stderr) else self._print_once
            self._thread = threading.Thread(target=draw, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        WaitingLine._open -= 1
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def needs_person(self, says: str, limit: float) -> None:
        """Say what the person has to do, and within how many seconds from now."""
        if says == self.says:
            return
        self._started, self._limit, self.says = time.monotonic(), limit, says
        if not is_capable(sys.stderr):
            self._is_said = True
            print(f"{says} (within {limit:.0f} s)", file=sys.stderr, flush=True)

    def above(self, line: str) -> None:
        """Print a line on stdout; on a terminal it stands above this one."""
        with self._lock:
            if self._is_drawn:
                _write(CLEAR_LINE)
                self._is_drawn = False
            print(line, flush=True)

    def _print_once(self) -> None:
        if not self._ended.wait(self._quiet) and not self._is_said:
            print(f"{self.says} ...", file=sys.stderr, flush=True)

    def _redraw(self) -> None:
        frames = FRAMES if can_print(FRAMES) else PLAIN_FRAMES
        pause, number = self._quiet, 0
        while not self._ended.wait(pause):
            with self._lock:
                _write(CLEAR_LINE + self._line(frames[number % len(frames)]))
                self._is_drawn = True
            pause, number = FRAME_SECONDS, number + 1
        if self._is_drawn:
            _write(CLEAR_LINE)

    def _line(self, frame: str) -> str:
        """What the terminal has room for; the seconds are never cut."""
        limit = "" if self._limit is None else f" of {self._limit:.0f}"
        seconds = f" ({time.monotonic() - self._started:.0f}{limit} s)"
        room = max(shutil.get_terminal_size().columns - 1 - len(seconds), 0)
        return f"{frame} {self.says}"[:room] + seconds


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
