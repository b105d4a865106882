"""`python -m bench.browser.traced_server FILE ARGUMENTS...`: runs tabhub and traces one call.

SIGUSR1 begins the trace; a second SIGUSR1 ends it and writes FILE as JSON: the files of the
package that ran, and the classes whose objects held the call's arguments before they were sent to
the browser.
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
"""A word in the call's arguments: objects that refer to it carry the call."""
HOPS = 3
LAST = "Dispatch"
"""The class of the message to the browser; objects made after it belong to the result."""


class Trace:
    """The files that ran and the objects that were made between two signals."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._files: set[str] = set()
        self._made: list[Any] = []
        """Kept alive, so that no other object gets the id of one of these."""
        self._carriers: dict[str, str] = {}
        self._before: set[int] = set()
        self._is_on = False

    def toggle(self, *_: object) -> None:
        if self._is_on:
            sys.setprofile(None)
            self._write()
        else:
            self._before = {id(value) for value in gc.get_objects()}
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
    return hops > 0 and any(_leads_to_mark(inner, hops - 1) for inner in _referents(value))


def _referents(value: Any) -> list[Any]:
    """The objects that an object refers to, without its methods and its class."""
    if type(value).__module__.startswith("tabhub.") or isinstance(value, dict | list | tuple):
        return [inner for inner in gc.get_referents(value) if not callable(inner)]
    return []


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, Trace(Path(sys.argv[1])).toggle)
    sys.argv = ["tabhub", *sys.argv[2:]]
    main()
