"""Tells open panels that there is something new to see: often enough, and not more."""

import asyncio

from tabhub.browser.link.browsers import Browsers
from tabhub.wire.link import Nothing

GATHER_SECONDS = 0.1


class PanelNews:
    """Changes come in bursts, so those of a moment are told together."""

    def __init__(self, browsers: Browsers) -> None:
        self._browsers = browsers
        self._waiting: asyncio.TimerHandle | None = None
        browsers.on_panels(self.changed)

    def changed(self, *_: object) -> None:
        if self._waiting is None and self._browsers.has_panel:
            loop = asyncio.get_running_loop()
            self._waiting = loop.call_later(GATHER_SECONDS, self._tell)

    def _tell(self) -> None:
        self._waiting = None
        self._browsers.tell_all("state.changed", Nothing())
