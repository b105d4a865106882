"""Where plugins in Python are ready: they are asked as those in pages are, but by the server."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from tabhub.browser.link.browsers import Browsers
from tabhub.hub.tabs import Change, Tab, Tabs
from tabhub.plugins.active import ActivePlugin, ActivePlugins
from tabhub.plugins.readiness import Readiness, TabReadiness

POLL_SECONDS = 30.0
Ask = Callable[[ActivePlugin, Tab], Awaitable[TabReadiness]]


class PythonReadiness:
    """Asks after loading, when an address changes, when a plugin changes, and every 30 seconds."""

    def __init__(
        self,
        tabs: Tabs,
        browsers: Browsers,
        plugins: ActivePlugins,
        readiness: Readiness,
        ask: Ask,
    ) -> None:
        self._tabs = tabs
        self._plugins = plugins
        self._readiness = readiness
        self._ask = ask
        self._seen: dict[int, tuple[str, str]] = {}
        """Address and status of each tab, as they were when they were last looked at."""
        self._asking: dict[tuple[int, str], asyncio.Task[None]] = {}
        self._again: set[tuple[int, str]] = set()
        tabs.on_change(self._tab_changed)
        browsers.on_listed(self._listed)

    def ask_all(self, browser: str | None = None) -> None:
        """Ask every plugin in every tab that it is for."""
        for tab in self._tabs.all():
            if browser in (None, tab.browser):
                self._ask_in(tab)

    async def poll(self) -> None:
        """Loop: ask again now and then."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            self.ask_all()

    async def stop(self) -> None:
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _listed(self, browser: str) -> None:
        self.ask_all(browser)

    def _tab_changed(self, change: Change, id: int) -> None:
        tab = self._tabs.find(id)
        if change == "closed" or tab is None:
            self._seen.pop(id, None)
            return
        if self._seen.get(id) != (tab.url, tab.status):
            self._ask_in(tab)

    def _ask_in(self, tab: Tab) -> None:
        self._seen[tab.id] = (tab.url, tab.status)
        for plugin in self._plugins_for(tab):
            key = (tab.id, plugin.name)
            if key in self._asking:
                self._again.add(key)
            else:
                task = asyncio.ensure_future(self._asked(key))
                self._asking[key] = task

    def _plugins_for(self, tab: Tab) -> Iterator[ActivePlugin]:
        for plugin in self._plugins:
            package = plugin.package
            is_usable = package.python is not None and package.is_complete
            if is_usable and plugin.closed is None and plugin.matches(tab.url):
                yield plugin

    async def _asked(self, key: tuple[int, str]) -> None:
        try:
            while True:
                self._again.discard(key)
                await self._note(*key)
                if key not in self._again:
                    return
        finally:
            del self._asking[key]

    async def _note(self, id: int, name: str) -> None:
        tab, plugin = self._tabs.find(id), self._plugins.find(name)
        if tab is None or plugin is None or plugin.closed is not None:
            return
        found = await self._ask(plugin, tab)
        now = self._tabs.find(id)
        if now is not None and now.url == tab.url:
            self._readiness.note(now, name, found)
