"""Every connected browser, by its profile id, and what they tell of their tabs."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import msgspec

from tabhub.browser.link.connection import Connection
from tabhub.browser.link.pending import Pending
from tabhub.calls.time_limit import Progress
from tabhub.errors import TabhubError, Unavailable
from tabhub.hub.hub import Hub
from tabhub.hub.sessions import readable
from tabhub.hub.tabs import Tab
from tabhub.wire import link
from tabhub.wire.link_versions import Mismatch
from tabhub.wire.methods import EXTENSION, Handlers

log = logging.getLogger(__name__)

CLOSE = "tabs.close"
MOST_MISMATCHES = 20
"""Of how many profiles it is kept that their extension is of another version."""
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
    panels: int = 0

    @property
    def is_managed(self) -> bool:
        return self.info.kind == "managed"

    def __str__(self) -> str:
        named = readable(f"{self.info.name} {self.info.version}")
        return f"browser {named} ({self.info.kind})"


class Browsers:
    """Connects the hub's picture of the tabs with the browsers that have them."""

    def __init__(self, hub: Hub) -> None:
        self._tabs = hub.tabs
        self._sessions = hub.sessions
        self._ownership = hub.ownership
        self._panel_listeners: list[Callable[[], None]] = []
        self._activation_listeners: list[Callable[[Tab], None]] = []
        self._list_listeners: list[Callable[[str], None]] = []
        self._reloading: set[str] = set()
        self._background: set[asyncio.Task[Any]] = set()
        self._all: dict[str, Browser] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        self._arrival = asyncio.Event()
        self._mismatches: OrderedDict[str, Mismatch] = OrderedDict()

    def all(self) -> list[Browser]:
        return list(self._all.values())

    def mismatched(self, id: str, found: Mismatch | None) -> bool:
        """Keep how a profile's extension differs from this server; whether that is news."""
        before = self._mismatches.pop(id, None)
        if found is not None:
            self._mismatches[id] = found
            if len(self._mismatches) > MOST_MISMATCHES:
                self._mismatches.popitem(last=False)
        return found != before

    def mismatch_of(self, id: str) -> Mismatch | None:
        return self._mismatches.get(id)

    def refused(self) -> dict[str, Mismatch]:
        """The profiles whose extension cannot be used with this server."""
        return {id: found for id, found in self._mismatches.items() if found.is_refused}

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
        if self.is_current(id, connection):
            log.info("%s has gone", self._all.pop(id))
            self._panels_changed()
            loop = asyncio.get_running_loop()
            self._leaving[id] = loop.call_later(FORGET_AFTER_SECONDS, self._forget, id)

    def hear(self, id: str, sender: Connection, method: str, params: msgspec.Raw) -> None:
        """Take what a browser reports of itself; a replaced connection no longer counts."""
        if self.is_current(id, sender):
            self._HANDLERS.handle(method, params, self, id)

    def is_managed(self, id: str | None) -> bool:
        """Whether a browser is the agents' own; None for the one used when a call names none.

        Without any browser nothing can be done, and that is what the call should hear.
        """
        browser = next(reversed(self._all.values()), None) if id is None else self._all.get(id)
        return browser is None or browser.is_managed

    @property
    def has_panel(self) -> bool:
        return any(browser.panels for browser in self._all.values())

    def on_activated(self, listener: Callable[[Tab], None]) -> None:
        """Hear of every tab that a person turns to, by choosing it or its window."""
        self._activation_listeners.append(listener)

    def on_listed(self, listener: Callable[[str], None]) -> None:
        """Hear of every browser that has told all its tabs."""
        self._list_listeners.append(listener)

    def _activated(self, tab: Tab) -> None:
        for listener in self._activation_listeners:
            listener(tab)

    def on_panels(self, listener: Callable[[], None]) -> None:
        self._panel_listeners.append(listener)

    async def in_tab(
        self,
        tab: Tab,
        command: str,
        input: Any,
        progress: Progress,
        pending: Pending | None = None,
    ) -> Any:
        """Run a command in one tab, where it may act."""
        connection = self.get(tab.browser).connection
        return await connection.dispatch(command, input, tab.native_id, progress, pending)

    async def in_browser(
        self, id: str, command: str, input: Any, progress: Progress, pending: Pending | None = None
    ) -> Any:
        """Run a command that belongs to no tab."""
        return await self.get(id).connection.dispatch(command, input, None, progress, pending)

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
        tab = self._tabs.by_native(id, told.tab_id)
        if tab is None:
            return self.learn(id, told)
        return self._tabs.put(replace(tab, url=told.url, title=told.title, status=told.status))

    def learn_all(self, id: str, states: list[link.TabState]) -> list[Tab]:
        """Take a browser's whole list, so that what it does not name is gone."""
        for gone in self._tabs.sync(id, (_tab(id, state) for state in states)):
            self._gone(gone)
        return self._tabs.of_browser(id)

    def soon(self, tab: Tab, command: str, input: Any) -> None:
        """Send a command to a tab whose outcome nobody waits for."""
        task = asyncio.ensure_future(self._unheard(tab, command, input))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def let_go(self, tab: Tab, command: str) -> None:
        """Close a tab whose agent has gone, or leave it to the person: now or when it is back."""
        if tab.browser in self._all:
            self.soon(tab, command, {})
        elif command == CLOSE:
            self._ownership.close_later(tab)

    async def _unheard(self, tab: Tab, command: str, input: Any) -> None:
        try:
            await self.in_tab(tab, command, input, _no_progress)
        except TabhubError as error:
            log.info("%s in tab %s: %s", command, tab.id, error)
            if command == CLOSE and isinstance(error, Unavailable):
                # The link broke meanwhile: it is closed when the browser is back.
                self._ownership.close_later(tab)

    def group_of(self, session: str, browser: str) -> dict[str, Any] | None:
        """The tab group that a session's new tab in a browser belongs in."""
        agent = self._sessions.find(session)
        if agent is None:
            return None
        known = self._ownership.group(session, browser)
        group: dict[str, Any] = {"title": agent.name, "color": agent.color}
        return group if known is None else {**group, "groupId": known}

    async def wait_for_managed(self) -> None:
        """Come back when a browser of the agents' own has said which tabs it has."""
        while not any(browser.ready and browser.is_managed for browser in self._all.values()):
            self._arrival.clear()
            await self._arrival.wait()

    def reload_extensions(self) -> int:
        """Have every extension start anew; its browser and tabs stay what they are."""
        self._reloading = {*self._all}
        return self.tell_all("extension.reload", link.Nothing())

    def reload_extension(self, id: str) -> Connection:
        """Have one extension start anew; the connection that will go."""
        connection = self.get(id).connection
        self._reloading.add(id)
        connection.notify("extension.reload", link.Nothing())
        return connection

    async def hang_up(self, id: str) -> Connection:
        """Close the connection of a browser, which then connects anew by itself."""
        connection = self.get(id).connection
        await connection.hang_up()
        return connection

    def cut_all(self) -> None:
        """Have every browser show anew that it may come in."""
        for browser in self._all.values():
            browser.connection.cut()

    async def back(self, id: str, before: Connection) -> Browser:
        """The browser, as soon as it has another connection and has said which tabs it has."""
        while True:
            known = self._all.get(id)
            if known is not None and known.ready and known.connection is not before:
                return known
            self._arrival.clear()
            await self._arrival.wait()

    def _reloaded(self, id: str) -> bool:
        known = id in self._reloading
        self._reloading.discard(id)
        return known

    def tell_all(self, method: str, params: Any) -> int:
        """Send news to every browser; how many there were."""
        for browser in self._all.values():
            browser.connection.notify(method, params)
        return len(self._all)

    def is_current(self, id: str, connection: Connection) -> bool:
        known = self._all.get(id)
        return known is not None and known.connection is connection

    def _sync(self, id: str, told: link.SyncAll) -> None:
        browser = self._all[id]
        is_first, browser.info, browser.ready = not browser.ready, told.browser, True
        if is_first:
            log.info("%s has connected", browser)
        reloaded = self._reloaded(id)
        if self._ownership.is_new_run(id, told.browser.instance) and not reloaded:
            # The browser was started again: an old number is another tab now.
            self.learn_all(id, [])
        for tab in self.learn_all(id, told.tabs):
            self._reclaim(tab)
        self._ownership.drop_parked(id)
        for listener in self._list_listeners:
            listener(id)
        self._arrival.set()
        self._set_panels(id, told.browser.panels)

    def _changed(self, id: str, told: link.StateChanged) -> None:
        if told.state == "closed":
            gone = self._tabs.remove(id, told.tab_id)
            if gone is not None:
                self._gone(gone)
            return
        if told.state == "replaced" and told.replaced_by is not None:
            gone = self._tabs.rename(id, told.tab_id, told.replaced_by)
            if gone is not None:
                self._gone(gone)
        if told.tab is not None:
            shown = self._shown(id)
            tab = self.learn(id, told.tab)
            if told.state == "activated" and tab.focused_window:
                self._activated(tab)
            if told.opened_by is not None:
                self._opened_by(tab, told.opened_by)
            self._left(shown, id)

    def _shown(self, id: str) -> list[Tab]:
        """Tabs that agents may use because the person looks at them."""
        if not self._ownership.shares_active:
            return []
        may_use = self._ownership.is_shared
        return [tab for tab in self._tabs.of_browser(id) if may_use(tab)]

    def _left(self, shown: list[Tab], id: str) -> None:
        """The person looks elsewhere: nothing is recorded of what they have left."""
        still = {tab.id for tab in self._shown(id)} if shown else set()
        for tab in shown:
            if tab.id not in still and self._ownership.owner(tab.id) is None:
                self.soon(tab, "tabs.release", {})

    def _reclaim(self, tab: Tab) -> None:
        if self._ownership.take_close_mark(tab):
            self.soon(tab, CLOSE, {})
        session = self._ownership.reclaim(tab)
        agent = None if session is None else self._sessions.find(session)
        if agent is not None and agent.current is None and agent.awaited == tab.native_id:
            self._sessions.use(agent.key, tab.id)

    def _opened_by(self, tab: Tab, native_opener: int) -> None:
        """A page has opened this tab: it belongs to whoever has that page's tab."""
        opener = self._tabs.by_native(tab.browser, native_opener)
        session = None if opener is None else self._ownership.opened(tab.id, opener.id)
        group = None if session is None else self.group_of(session, tab.browser)
        if group is not None and tab.group_id != group.get("groupId", -1):
            self.soon(tab, "tabs.group", {"group": group})

    def _gone(self, tab: int) -> None:
        self._sessions.forget_tab(tab)
        self._ownership.closed(tab)

    def _panel(self, id: str, told: link.PanelChanged) -> None:
        self._set_panels(id, told.open)

    def _set_panels(self, id: str, panels: int) -> None:
        self._all[id].panels = panels
        self._panels_changed()

    def _panels_changed(self) -> None:
        for listener in self._panel_listeners:
            listener()

    def _forget(self, id: str) -> None:
        del self._leaving[id]
        self._ownership.park(id)
        for agent in self._sessions.all():
            tab = None if agent.current is None else self._tabs.find(agent.current)
            if tab is not None and tab.browser == id:
                agent.awaited = tab.native_id
        self.learn_all(id, [])

    _HANDLERS: ClassVar = Handlers(
        EXTENSION.taken_by("browsers"),
        {"tab.syncAll": _sync, "tab.stateChanged": _changed, "panel.changed": _panel},
    )


async def _no_progress(progress: float, total: float | None, message: str | None) -> None:
    return None


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
