"""Every connected browser, by its profile id, and what they tell of their tabs."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import msgspec

from tabhub.browser.connection import Connection
from tabhub.browser.pending import Learn
from tabhub.calls.ports import Progress
from tabhub.errors import ProtocolError, Unavailable
from tabhub.hub.sessions import AgentSessions
from tabhub.hub.tabs import Tab, Tabs
from tabhub.wire import link

log = logging.getLogger(__name__)

FORGET_AFTER_SECONDS = 60.0
"""How long the tabs of a browser that has gone keep their ids, in case it comes back."""


@dataclass
class Browser:
    """One browser profile and its current connection."""

    id: str
    connection: Connection
    info: link.BrowserInfo = field(default_factory=link.BrowserInfo)
    connected_at: int = field(default_factory=lambda: int(time.time() * 1000))
    """Milliseconds since 1970: each connection has its own."""
    ready: bool = False
    """Whether it has said which tabs it has."""


class Browsers:
    """Connects the hub's picture of the tabs with the browsers that have them."""

    def __init__(self, tabs: Tabs, sessions: AgentSessions) -> None:
        self._tabs = tabs
        self._sessions = sessions
        self._all: dict[str, Browser] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        self._arrival = asyncio.Event()

    def all(self) -> list[Browser]:
        return list(self._all.values())

    def join(self, id: str, connection: Connection) -> Connection | None:
        """A profile has connected; the connection that it replaces, if it had one."""
        if (timer := self._leaving.pop(id, None)) is not None:
            timer.cancel()
        known = self._all.pop(id, None)
        self._all[id] = Browser(id, connection)
        return known.connection if known else None

    def leave(self, id: str, connection: Connection) -> None:
        """A connection has gone; nothing changes if the profile has a newer one."""
        connection.close()
        if self._is_current(id, connection):
            del self._all[id]
            loop = asyncio.get_running_loop()
            self._leaving[id] = loop.call_later(FORGET_AFTER_SECONDS, self._forget, id)

    def hear(self, id: str, sender: Connection, method: str, params: msgspec.Raw) -> None:
        """News from one browser; which methods there are is a closed list."""
        handler = self._HANDLERS.get(method)
        if handler is None:
            raise ProtocolError(f"There is no method {method!r} here.", "method_not_found")
        if not self._is_current(id, sender):
            return
        try:
            handler(self, id, params)
        except msgspec.DecodeError as error:
            raise ProtocolError(f"{method}: {error}.", "invalid_params") from None

    async def in_tab(
        self, tab: Tab, command: str, input: Any, progress: Progress, learn: Learn | None = None
    ) -> Any:
        """Run a command in one tab."""
        connection = self.get(tab.browser).connection
        return await connection.dispatch(command, input, tab.native_id, progress, learn)

    async def in_browser(
        self, id: str, command: str, input: Any, progress: Progress, learn: Learn | None = None
    ) -> Any:
        """Run a command that belongs to no tab."""
        return await self.get(id).connection.dispatch(command, input, None, progress, learn)

    def get(self, id: str) -> Browser:
        browser = self._all.get(id)
        if browser is not None:
            return browser
        if not self._all:
            raise _nobody()
        raise Unavailable(f"The browser {id} is not connected. Connected: {', '.join(self._all)}.")

    def latest(self) -> Browser:
        """The browser to use when a call names none: the one that connected last."""
        if not self._all:
            raise _nobody()
        return next(reversed(self._all.values()))

    def learn(self, id: str, state: link.TabState) -> Tab:
        """Put what a browser says of a tab into the hub."""
        return self._tabs.put(_tab(id, state))

    def moved(self, id: str, told: link.TabState) -> Tab:
        """Put a tab's new address, title and status into the hub; the rest stays as it was."""
        for tab in self._tabs.of_browser(id):
            if tab.native_id == told.tab_id:
                return self._tabs.put(
                    replace(tab, url=told.url, title=told.title, status=told.status)
                )
        return self.learn(id, told)

    def learn_all(self, id: str, states: list[link.TabState]) -> list[Tab]:
        """Take a browser's whole list, so that what it does not name is gone."""
        for gone in self._tabs.sync(id, (_tab(id, state) for state in states)):
            self._sessions.forget_tab(gone)
        return self._tabs.of_browser(id)

    async def wait_for_one(self) -> Browser:
        """A browser, as soon as one has said which tabs it has."""
        while not any(browser.ready for browser in self._all.values()):
            self._arrival.clear()
            await self._arrival.wait()
        return self.latest()

    def tell_all(self, method: str, params: Any) -> int:
        """Send news to every browser; how many there were."""
        for browser in self._all.values():
            browser.connection.notify(method, params)
        return len(self._all)

    def _is_current(self, id: str, connection: Connection) -> bool:
        known = self._all.get(id)
        return known is not None and known.connection is connection

    def _sync(self, id: str, params: msgspec.Raw) -> None:
        told = msgspec.json.decode(params, type=link.SyncAll)
        self._all[id].info = told.browser
        self._all[id].ready = True
        self.learn_all(id, told.tabs)
        self._arrival.set()

    def _changed(self, id: str, params: msgspec.Raw) -> None:
        told = msgspec.json.decode(params, type=link.StateChanged)
        if told.state == "closed":
            gone = self._tabs.remove(id, told.tab_id)
            if gone is not None:
                self._sessions.forget_tab(gone)
            return
        if told.state == "replaced" and told.replaced_by is not None:
            self._tabs.rename(id, told.tab_id, told.replaced_by)
        if told.tab is not None:
            self.learn(id, told.tab)

    def _forget(self, id: str) -> None:
        del self._leaving[id]
        self.learn_all(id, [])

    _HANDLERS: ClassVar[dict[str, Callable[["Browsers", str, msgspec.Raw], None]]] = {
        "tab.syncAll": _sync,
        "tab.stateChanged": _changed,
    }


def _tab(browser: str, state: link.TabState) -> Tab:
    return Tab(
        id=state.tab_id,
        browser=browser,
        native_id=state.tab_id,
        url=state.url,
        title=state.title,
        active=state.active,
        focused_window=state.focused_window,
        window_id=state.window_id,
        index=state.index,
        status=state.status,
        group_id=state.group_id,
    )


def _nobody() -> Unavailable:
    return Unavailable(
        "No browser is connected. Start one with `tabhub browser`, or open the one that has the "
        "tabhub extension."
    )
