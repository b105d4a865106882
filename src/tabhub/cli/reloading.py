"""SIGHUP: the server reads its files again, or ends with the terminal that it was started in."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable

from tabhub.errors import TabhubError
from tabhub.server.app import App

log = logging.getLogger(__name__)
NAME = "SIGHUP"


def listen(app: App, stop: Callable[[], None]) -> None:
    """From now on; without such a signal there is nothing to hear."""
    number = getattr(signal, NAME, None)
    if number is None:
        return
    had_terminal = _has_terminal()

    def hear() -> None:
        if had_terminal and not _has_terminal():
            stop()
        else:
            _reload(app)

    asyncio.get_running_loop().add_signal_handler(number, hear)
    app.report.reloads.signal = NAME


def _reload(app: App) -> None:
    try:
        app.reload()
        log.info("the files were read again")
    except TabhubError as error:
        log.error("the files could not be read again: %s", error)


def _has_terminal() -> bool:
    """Whether there is one that could be spoken to; a closed one cannot."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
