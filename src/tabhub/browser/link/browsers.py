"""Every connected browser by its profile id; what they report of their tabs goes into the hub."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import msgspec

from tabhub.browser.link.connection import LinkConnection
from tabhub.browser.link.pending import Pending
from tabhub.calls.time_limit import Progress
from tabhub.errors import Forbidden, TabhubError, Unavailable
from tabhub.hub.hub import Hub
from tabhub.hub.sessions import readable
from tabhub.hub.tabs import Tab
from tabhub.wire import link
from tabhub.wire.link import PluginTabs
from tabhub.wire.link_versions import Mismatch
from tabhub.wire.methods import EXTENSION, Handlers

log = logging.getLogger(__name__)

CLOSE = "tabs.close"
MOST_MISMATCHES = 20
"""For how many profiles a version mismatch is kept."""
FORGET_AFTER_SECONDS = 60.0
"""How long the tabs of a disconnected browser keep their ids, in case it reconnects."""
READY_SECONDS = 10.0
"""How long a call waits for a browser that is being started or has not listed its tabs yet."""


@dataclass
class Browser:
    """One browser profile and its current connection."""

    id: str
    connection: LinkConnection
    info: link.BrowserInfo = field(default_factory=link.BrowserInfo)
    connected_at: int = field(default_factory=lambda: int(time.time() * 1000))
    """Milliseconds since 1970: each connection has its own."""
    ready: bool = False
    """Whether it has listed its tabs."""
    is_known: bool = False
    """Whether it has said what kind of browser it is, on this connection or on the one before."""
    panels: int | None = None
    """How many side panels are open in it; None if it does not say."""
    asks_persons: bool = False
    """Whether its extension shows a person what waits, with a panel open or not: it says how many
    panels are open, now or on the connection before. Other extensions than tabhub's do not."""
    is_remote: bool = False
    """Whether it is reached through the proxy."""

    @property
    def is_persons(self) -> bool:
        """Whether it is a person's own, on this machine, and its extension can reach the person."""
        return self.asks_persons and not self.is_managed and not self.is_remote

    @property
    def is_managed(self) -> bool:
        return self.info.kind == "managed"

    @property
    def is_own(self) -> bool:
        """Whether this tabhub started it."""
        return self.is_managed and not self.is_remote

    def __str__(self) -> str:
        name = readable(f"{self.info.name} {self.info.version}")
        return f"browser {name} ({self.info.kind})"


class Browsers:
    """The connected browsers: keeps the hub's tabs up to date, and sends commands to tabs."""

    def __init__(self, hub: Hub) -> None:
        self._tabs = hub.tabs
        self._sessions = hub.sessions
        self._ownership = hub.ownership
        self._panel_listeners: list[Callable[[], None]] = []
        self._activation_listeners: list[Callable[[Tab], None]] = []
        self._list_listeners: list[Callable[[str], None]] = []
        self.plugin_tabs: Callable[[str, str, PluginTabs], None] = lambda id, plugin, tabs: None
        """Takes what an extension of OpenTabs reports: a browser, a plugin, the plugin's tabs."""
        self._reloading: set[str] = set()
        self._background: set[asyncio.Task[Any]] = set()
        self._all: dict[str, Browser] = {}
        self._leaving: dict[str, tuple[Browser, asyncio.TimerHandle]] = {}
        self._listed = asyncio.Event()
        self._mismatches: OrderedDict[str, Mismatch] = OrderedDict()
        self.keeps_own: Callable[[], bool] = lambda: False
        """Whether the server keeps a browser of the agents' own open, connected or not."""
        self.absence: Callable[[], str] = lambda: ""
        """Why there is no browser elsewhere, where the server uses a proxy."""

    def all(self) -> list[Browser]:
        return list(self._all.values())

    def mismatched(self, id: str, found: Mismatch | None) -> bool:
        """Keep the version mismatch of a profile's extension; returns whether it has changed."""
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

    def join(
        self, id: str, connection: LinkConnection, is_remote: bool = False
    ) -> LinkConnection | None:
        """Take a profile's connection; returns the connection that it replaces."""
        known = self._all.pop(id, None)
        before = known
        if id in self._leaving:
            before, timer = self._leaving.pop(id)
            timer.cancel()
        # Until it lists its tabs it is the browser that it was, so that one of the agents' own
        # does not ask for approvals in between.
        info = before.info if before else link.BrowserInfo()
        browser = Browser(id, connection, info, is_known=before is not None, is_remote=is_remote)
        browser.asks_persons = before is not None and before.asks_persons
        self._all[id] = browser
        self._ownership.share_browser(id, is_remote)
        return known.connection if known else None

    def leave(self, id: str, connection: LinkConnection) -> None:
        """Take the end of a connection; nothing changes if the profile has a newer one."""
        connection.close()
        if self.is_current(id, connection):
            browser = self._all.pop(id)
            log.info("%s has gone", browser)
            loop = asyncio.get_running_loop()
            timer = loop.call_later(FORGET_AFTER_SECONDS, self._forget, id)
            self._leaving[id] = (browser, timer)
            self._panels_changed()
            self._listed.set()

    def handle(self, id: str, sender: LinkConnection, method: str, params: msgspec.Raw) -> None:
        """Take one message of a browser; those of a replaced connection are ignored."""
        if self.is_current(id, sender):
            self._HANDLERS.handle(method, params, self, id)

    def is_managed(self, id: str | None) -> bool:
        """Whether a browser is the agents' own; None for the one used when a call names none.

        True without any browser, so that the call fails for that and not for a permission.
        """
        browser = self.default() if id is None else self._all.get(id)
        return browser is None or browser.is_managed

    def is_remote(self, id: str) -> bool:
        """Whether a browser is reached through the proxy."""
        known = self._all.get(id)
        return known is not None and known.is_remote

    def is_permissive(self, id: str | None) -> bool:
        """Whether a call is allowed there unless a rule says otherwise.

        So in browsers of the agents' own; and in one that is reached through the proxy, where its
        person has decided what this server may do, and the extension sees to it.
        """
        browser = self.default() if id is None else self._all.get(id)
        return browser is None or browser.is_managed or browser.is_remote

    @property
    def has_panel(self) -> bool:
        return any(browser.panels for browser in self._all.values())

    @property
    def has_person(self) -> bool:
        """Whether a person's own browser is connected here, or was a moment ago."""
        leaving = (browser for browser, _ in self._leaving.values())
        return any(browser.is_persons for browser in (*self._all.values(), *leaving))

    @property
    def are_elsewhere(self) -> bool:
        """Whether there are browsers, and all of them are reached through the proxy."""
        return bool(self._all) and all(browser.is_remote for browser in self._all.values())

    @property
    def watched(self) -> list[Browser]:
        """The browsers here that may show the person what happens: no panel is open in others."""
        all = self._all.values()
        return [browser for browser in all if browser.panels != 0 and not browser.is_remote]

    def on_activated(self, listener: Callable[[Tab], None]) -> None:
        """Call the listener with every tab that a person activates, or whose window they do."""
        self._activation_listeners.append(listener)

    def on_listed(self, listener: Callable[[str], None]) -> None:
        """Call the listener with every browser that has listed its tabs."""
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
        """Run a command in one tab; `pending` says where in it the command may act."""
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
            raise _none_connected(self.absence())
        raise Unavailable(f"The browser {id} is not connected. Connected: {', '.join(self._all)}.")

    def latest(self) -> Browser:
        """The browser to use when a call names none: the one that connected last.

        If the server keeps a browser of the agents' own, that one, even before it connects: a
        person's browser is used instead only where a call names it.
        """
        browser = self.default()
        if browser is None:
            if self._all or self.keeps_own():
                raise _connecting()
            raise _none_connected(self.absence())
        return browser

    def default(self) -> Browser | None:
        """The same; None without one, or while nobody knows what kind of browser it will be."""
        only_own = self.keeps_own()
        for browser in reversed(self._all.values()):
            if browser.is_known and (browser.is_own or not only_own):
                return browser
        return None

    async def ready(self, id: str | None) -> None:
        """Wait until the browser of a call has listed its tabs, so that its kind is known.

        None stands for the browser used when a call names none.
        """
        try:
            async with asyncio.timeout(READY_SECONDS):
                while self._is_connecting(id):
                    self._listed.clear()
                    await self._listed.wait()
        except TimeoutError:
            raise _connecting() from None

    def _is_connecting(self, id: str | None) -> bool:
        if id is not None:
            return id in self._all and not self._all[id].ready
        if self.keeps_own():
            return not self._has_managed()
        latest = next(reversed(self._all.values()), None)
        return latest is not None and not latest.ready

    def _has_managed(self) -> bool:
        return any(browser.ready and browser.is_own for browser in self._all.values())

    def learn(self, id: str, state: link.TabState) -> Tab:
        """Put the state of a tab into the hub."""
        return self._tabs.put(_tab(id, state))

    def moved(self, id: str, state: link.TabState) -> Tab:
        """Put a tab's new address, title and status into the hub; the rest stays as it was."""
        tab = self._tabs.by_native(id, state.tab_id)
        if tab is None:
            return self.learn(id, state)
        return self._tabs.put(replace(tab, url=state.url, title=state.title, status=state.status))

    def learn_all(self, id: str, states: list[link.TabState]) -> list[Tab]:
        """Replace the hub's tabs of a browser by its whole list."""
        for closed in self._tabs.sync(id, (_tab(id, state) for state in states)):
            self._tab_closed(closed)
        return self._tabs.of_browser(id)

    def dispatch_in_background(self, tab: Tab, command: str, input: Any) -> None:
        """Run a command in a tab without waiting for its result."""
        task = asyncio.ensure_future(self._dispatch_and_log(tab, command, input))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def release(self, tab: Tab, command: str) -> None:
        """End an agent's use of a tab by a command; a tab to close may wait for its browser."""
        if tab.browser in self._all:
            self.dispatch_in_background(tab, command, {})
        elif command == CLOSE:
            self._ownership.close_later(tab)

    async def _dispatch_and_log(self, tab: Tab, command: str, input: Any) -> None:
        try:
            await self.in_tab(tab, command, input, _no_progress)
        except TabhubError as error:
            log.info("%s in tab %s: %s", command, tab.id, error)
            if command == CLOSE and isinstance(error, Unavailable):
                # The link was lost meanwhile: the tab is closed when the browser reconnects.
                self._ownership.close_later(tab)

    def group_of(self, session: str, browser: str) -> dict[str, Any] | None:
        """The tab group for a session's new tab in a browser."""
        agent = self._sessions.find(session)
        if agent is None:
            return None
        known = self._ownership.group(session, browser)
        group: dict[str, Any] = {"title": agent.name, "color": agent.color}
        return group if known is None else {**group, "groupId": known}

    async def wait_for_managed(self) -> None:
        """Wait until a browser of the agents' own has listed its tabs."""
        while not self._has_managed():
            self._listed.clear()
            await self._listed.wait()

    def reload_extensions(self) -> int:
        """Restart every extension, without its browser and tabs; returns how many."""
        self._reloading = {id for id, browser in self._all.items() if not browser.is_remote}
        return self.notify_all("extension.reload", link.Nothing())

    def reload_extension(self, id: str) -> LinkConnection:
        """Restart one extension; returns the connection that will close."""
        connection = self.get(id).connection
        if self.is_remote(id):
            raise Forbidden("The extension of a browser elsewhere is not restarted from here.")
        self._reloading.add(id)
        connection.notify("extension.reload", link.Nothing())
        return connection

    async def hang_up(self, id: str) -> LinkConnection:
        """Close the connection of a browser, which then reconnects; returns that connection."""
        connection = self.get(id).connection
        await connection.hang_up()
        return connection

    def disconnect_all(self) -> None:
        """Make every browser reconnect, and so authenticate again."""
        for browser in self._all.values():
            browser.connection.disconnect()

    async def back(self, id: str, before: LinkConnection) -> Browser:
        """Wait until a browser has a new connection and has listed its tabs; returns it."""
        while True:
            known = self._all.get(id)
            if known is not None and known.ready and known.connection is not before:
                return known
            self._listed.clear()
            await self._listed.wait()

    def notify_all(self, method: str, params: Any, remote: bool = False) -> int:
        """Send a notification to every browser here, or also elsewhere; returns to how many.

        What panels show stays on this machine.
        """
        found = [browser for browser in self._all.values() if remote or not browser.is_remote]
        for browser in found:
            browser.connection.notify(method, params)
        return len(found)

    def is_current(self, id: str, connection: LinkConnection) -> bool:
        known = self._all.get(id)
        return known is not None and known.connection is connection

    def _sync(self, id: str, params: link.SyncAll) -> None:
        browser = self._all[id]
        is_first, browser.info, browser.ready = not browser.ready, params.browser, True
        browser.is_known = True
        if is_first:
            log.info("%s has connected", browser)
        is_reload = id in self._reloading
        self._reloading.discard(id)
        if self._ownership.is_new_run(id, params.browser.instance) and not is_reload:
            # The browser was restarted: an old number now belongs to another tab.
            self.learn_all(id, [])
        tabs = params.tabs
        for tab in self.learn_all(id, tabs if isinstance(tabs, list) else _known(tabs.values())):
            self._reclaim(tab)
        self._ownership.drop_parked(id)
        for listener in self._list_listeners:
            listener(id)
        self._listed.set()
        for plugin, found in tabs.items() if isinstance(tabs, dict) else ():
            self.plugin_tabs(id, plugin, found)
        self._set_panels(id, params.browser.panels)

    def _changed(self, id: str, params: link.StateChanged) -> None:
        if params.tab_id is None:
            self._plugin_changed(id, params)
            return
        if params.state == "closed":
            closed = self._tabs.remove(id, params.tab_id)
            if closed is not None:
                self._tab_closed(closed)
            return
        if params.state == "replaced" and params.replaced_by is not None:
            closed = self._tabs.rename(id, params.tab_id, params.replaced_by)
            if closed is not None:
                self._tab_closed(closed)
        if params.tab is not None:
            before = self._shared_active(id)
            tab = self.learn(id, params.tab)
            if params.state == "activated" and tab.focused_window:
                self._activated(tab)
            if params.opened_by is not None:
                self._opened_by(tab, params.opened_by)
            self._end_sharing(before, id)

    def _plugin_changed(self, id: str, params: link.StateChanged) -> None:
        """Take the tabs of a plugin, as an extension of OpenTabs reports them."""
        known = PluginTabs(state="closed", tabs=params.tabs)
        for state in _known([known]):
            self.moved(id, state)
        self.plugin_tabs(id, params.plugin or "", known)

    def _shared_active(self, id: str) -> list[Tab]:
        """Tabs that agents may use because the person looks at them."""
        if not self._ownership.shares_active:
            return []
        may_use = self._ownership.is_shared
        return [tab for tab in self._tabs.of_browser(id) if may_use(tab)]

    def _end_sharing(self, before: list[Tab], id: str) -> None:
        """Release the tabs that the person no longer looks at, so that recording ends there."""
        still = {tab.id for tab in self._shared_active(id)} if before else set()
        for tab in before:
            if tab.id not in still and self._ownership.owner(tab.id) is None:
                self.dispatch_in_background(tab, "tabs.release", {})

    def _reclaim(self, tab: Tab) -> None:
        if self._ownership.take_close_mark(tab):
            self.dispatch_in_background(tab, CLOSE, {})
        session = self._ownership.reclaim(tab)
        agent = None if session is None else self._sessions.find(session)
        if agent is not None and agent.current is None and agent.awaited == tab.native_id:
            self._sessions.use(agent.key, tab.id)

    def _opened_by(self, tab: Tab, native_opener: int) -> None:
        """A page has opened this tab: it gets the owner of that page's tab."""
        opener = self._tabs.by_native(tab.browser, native_opener)
        session = None if opener is None else self._ownership.opened(tab.id, opener.id)
        group = None if session is None else self.group_of(session, tab.browser)
        if group is not None and tab.group_id != group.get("groupId", -1):
            self.dispatch_in_background(tab, "tabs.group", {"group": group})

    def _tab_closed(self, tab: int) -> None:
        self._sessions.forget_tab(tab)
        self._ownership.closed(tab)

    def _panel(self, id: str, params: link.PanelChanged) -> None:
        self._set_panels(id, params.open)

    def _set_panels(self, id: str, panels: int | None) -> None:
        browser = self._all[id]
        browser.panels = 0 if browser.is_remote else panels
        browser.asks_persons = panels is not None
        self._panels_changed()

    def _panels_changed(self) -> None:
        for listener in self._panel_listeners:
            listener()

    def forget_managed(self) -> None:
        """Take that all tabs of the browsers that tabhub started have closed with them."""
        left = {id: browser for id, (browser, _) in self._leaving.items()}
        for id, browser in {**left, **self._all}.items():
            if browser.is_own:
                self.learn_all(id, [])

    def _forget(self, id: str) -> None:
        del self._leaving[id]
        self._ownership.park(id)
        for agent in self._sessions.all():
            tab = None if agent.current is None else self._tabs.find(agent.current)
            if tab is not None and tab.browser == id:
                agent.awaited = tab.native_id
        self.learn_all(id, [])
        self._panels_changed()

    _HANDLERS: ClassVar = Handlers(
        EXTENSION.taken_by("browsers"),
        {"tab.syncAll": _sync, "tab.stateChanged": _changed, "panel.changed": _panel},
    )


async def _no_progress(progress: float, total: float | None, message: str | None) -> None:
    return None


def _known(found: Iterable[PluginTabs]) -> list[link.TabState]:
    """The tabs that plugins have, each once."""
    tabs = {tab.tab_id: tab for each in found for tab in each.tabs}
    return [link.TabState(tab_id=id, url=tab.url, title=tab.title) for id, tab in tabs.items()]


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


def _connecting() -> Unavailable:
    return Unavailable(
        "The browser is not connected yet; nothing was done. It connects within seconds if it "
        "runs: try again then."
    )


def _none_connected(absence: str) -> Unavailable:
    advice = "Start one with `tabhub browser`, or open the one that has the tabhub extension."
    return Unavailable(" ".join(filter(None, ("No browser is connected.", absence, advice))))
