"""`python -m bench.traced_server FILE ARGUMENTS...`: tabhub, and a trace of what one call runs.

SIGUSR1 begins the trace; a second one ends it and writes FILE as JSON: the files of the package
that ran, and the classes whose objects held the call's arguments on the way to the browser.
"""

import gc
import json
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import tabhub
from tabhub.cli import main

PACKAGE = str(Path(tabhub.__file__).parent)
MARK = "traced-button"
"""Stands in the call's arguments: what leads to it carries the call."""
HOPS = 3
LAST = "Dispatch"
"""The message to the browser: what is made after it belongs to the result."""


class Trace:
    """What ran, and what was made, between two signals."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._files: set[str] = set()
        self._made: list[Any] = []
        """Held, so that no other object gets the id of one that was made before."""
        self._carriers: dict[str, str] = {}
        self._before: set[int] = set()
        self._is_on = False

    def toggle(self, *_: object) -> None:
        if self._is_on:
            sys.setprofile(None)
            self._write()
        else:
            self._before = {id(one) for one in gc.get_objects()}
            sys.setprofile(self._event)
        self._is_on = not self._is_on

    def _event(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        self._files.add(frame.f_code.co_filename.removeprefix(PACKAGE + "/"))
        if LAST in self._carriers:
            return
        for value in frame.f_locals.values():
            is_ours = type(value).__module__.startswith("tabhub.")
            if is_ours and id(value) not in self._before and _leads_to_mark(value, HOPS):
                self._made.append(value)
                self._carriers[type(value).__name__] = type(value).__module__

    def _write(self) -> None:
        carriers = [f"{module}.{name}" for name, module in self._carriers.items()]
        trace = {"files": sorted(self._files), "carriers": carriers}
        self._file.with_suffix(".new").write_text(json.dumps(trace))
        self._file.with_suffix(".new").rename(self._file)


def _leads_to_mark(value: Any, hops: int) -> bool:
    if isinstance(value, str | bytes | memoryview):
        return MARK in (value if isinstance(value, str) else bytes(value).decode(errors="replace"))
    if type(value).__name__ == "Raw":
        return MARK.encode() in bytes(value)
    return hops > 0 and any(_leads_to_mark(one, hops - 1) for one in _held(value))


def _held(value: Any) -> list[Any]:
    """What an object holds itself; not what its methods, its class or long-lived things hold."""
    if type(value).__module__.startswith("tabhub.") or isinstance(value, dict | list | tuple):
        return [one for one in gc.get_referents(value) if not callable(one)]
    return []


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, Trace(Path(sys.argv[1])).toggle)
    sys.argv = ["tabhub", *sys.argv[2:]]
    main()
