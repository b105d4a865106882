"""Signals that reach a running event loop."""

import asyncio
import signal
import sys
from collections.abc import Callable

_STOPS = ("SIGINT", "SIGTERM", "SIGBREAK")
"""The last one is Windows': Ctrl-Break, and the end of the window."""


def stop_signals() -> list[signal.Signals]:
    """The signals of this system that ask a process to end."""
    return [signal.Signals[name] for name in _STOPS if name in signal.Signals.__members__]


def reach_others() -> bool:
    """Whether a signal makes another process clean up; on Windows it would end at once."""
    return sys.platform != "win32"


def on_stop(react: Callable[[], object]) -> None:
    """Call `react` in the running loop when the process is asked to end."""
    for number in stop_signals():
        on_signal(number, react)


def on_signal(number: signal.Signals, react: Callable[[], object]) -> None:
    """Call `react` in the running loop when the signal comes."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(number, react)
    except NotImplementedError:
        # Windows' loop has no handlers, but it wakes when Python notes a signal.
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(react))
