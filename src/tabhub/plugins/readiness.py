"""Where plugins can be used, and why not: what every list, error and report says about it."""

from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import UNSET, Struct

from tabhub.hub.tabs import Change, Tab, Tabs
from tabhub.hub.texts import one_line
from tabhub.plugins.active import ActivePlugin
from tabhub.wire.link import KnownTab
from tabhub.wire.plugins import PluginTab

Word = Literal[
    "no_tab",
    "not_injected",
    "not_ready",
    "timed_out",
    "threw",
    "needs_reload",
    "off",
    "not_reviewed",
]
LONGEST_MESSAGE = 300

_NOT_YET = "The browser has not reported yet."
_LEFT_OVER = "The plugin is off, but code of it may still run here: reload the tab."
_CLOSED: dict[str, str] = {
    "off": "The plugin is off.",
    "not_reviewed": "A person has to review the plugin first: tabhub plugin review {name}",
}


class TabReadiness(Struct, frozen=True):
    """Whether a plugin can be used in a tab, and if not, why."""

    ready: bool
    reason: Word | None = None
    message: str = ""


class PluginInTab(Struct, frozen=True):
    """A tab of a plugin."""

    tab: Tab
    readiness: TabReadiness
    instance: str | None


class Readiness:
    """What browsers have reported, by tab and plugin."""

    def __init__(self, tabs: Tabs) -> None:
        self._tabs = tabs
        self._known: dict[tuple[int, str], TabReadiness] = {}
        self._left: dict[tuple[int, str], TabReadiness] = {}
        """Tabs in which a plugin that is off has left something."""
        self._listeners: list[Callable[[], None]] = []
        tabs.on_change(self._tab_changed)

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def take(self, browser: str, tabs: Iterable[PluginTab]) -> None:
        """Take a report of our extension."""
        for found in tabs:
            reason = None if found.reason is UNSET else found.reason
            message = "" if found.message is UNSET else one_line(found.message, LONGEST_MESSAGE)
            known = TabReadiness(found.ready, None if found.ready else reason, message)
            self._put(browser, found.tab_id, found.plugin, known)
        self._changed()

    def take_known(self, browser: str, plugin: str, tabs: Iterable[KnownTab]) -> None:
        """Take a report in the form of OpenTabs: all tabs of a plugin in a browser."""
        self.forget(browser, plugin)
        for found in tabs:
            reason: Word | None = None if found.ready else "not_ready"
            self._put(browser, found.tab_id, plugin, TabReadiness(found.ready, reason))
        self._changed()

    def note(self, tab: Tab, plugin: str, known: TabReadiness) -> None:
        """The server has found out itself, by a call or by asking a plugin in Python."""
        if self._known.get((tab.id, plugin)) != known:
            self._known[tab.id, plugin] = known
            self._changed()

    def left_over(self, browser: str, plugin: str, tabs: Iterable[int]) -> None:
        """A plugin was turned off; these tabs need a reload."""
        self.forget(browser, plugin)
        for native in tabs:
            tab = self._tabs.by_native(browser, native)
            if tab is not None:
                self._left[tab.id, plugin] = TabReadiness(False, "needs_reload", _LEFT_OVER)
        self._changed()

    def forget(self, browser: str, plugin: str | None = None) -> None:
        """Forget the reports of a browser, about one plugin or all."""
        numbers = {tab.id for tab in self._tabs.of_browser(browser)}
        for key in list(self._known):
            if key[0] in numbers and plugin in (None, key[1]):
                del self._known[key]

    def of_tab(self, plugin: ActivePlugin, tab: Tab) -> TabReadiness:
        """Whether a plugin can be used in a tab that it is for."""
        key = (tab.id, plugin.name)
        if plugin.closed is not None:
            closed = TabReadiness(False, plugin.closed, _CLOSED[plugin.closed].format(name=key[1]))
            return self._left.get(key, closed)
        return self._known.get(key, TabReadiness(False, "not_injected", _NOT_YET))

    def tabs_of(self, plugin: ActivePlugin) -> list[PluginInTab]:
        """The tabs that a plugin is for, the best first."""
        tabs = [tab for tab in self._tabs.all() if plugin.matches(tab.url)]
        found = [
            PluginInTab(tab, self.of_tab(plugin, tab), plugin.instance_of(tab.url)) for tab in tabs
        ]
        return sorted(found, key=_rank)

    def reason(self, plugin: ActivePlugin) -> Word | None:
        """Why a plugin can be used nowhere; None if it can be used."""
        if plugin.closed is not None:
            return plugin.closed
        tabs = self.tabs_of(plugin)
        return tabs[0].readiness.reason if tabs else "no_tab"

    def _put(self, browser: str, native: int, plugin: str, known: TabReadiness) -> None:
        tab = self._tabs.by_native(browser, native)
        if tab is not None:
            self._known[tab.id, plugin] = known

    def _tab_changed(self, change: Change, id: int) -> None:
        tab = self._tabs.find(id)
        if change == "closed" or (tab is not None and tab.status == "loading"):
            for key in [key for key in self._left if key[0] == id]:
                del self._left[key]
        if change == "closed":
            for key in [key for key in self._known if key[0] == id]:
                del self._known[key]

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()


def _rank(found: PluginInTab) -> tuple[bool, int, int]:
    """Ready ones first; then what the person looks at, or has in front in a window."""
    tab = found.tab
    place = 2 * (not tab.active) + (not tab.focused_window)
    return (not found.readiness.ready, place, tab.id)
