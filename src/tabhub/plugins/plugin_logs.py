"""What plugins log in pages: the last entries are kept, and running calls pass them on.

A page can forge the entries of the plugins in it, so there are limits, and every word is quoted.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from tabhub.calls.call import Call
from tabhub.calls.marks import escaped, quoted
from tabhub.errors import NotFound
from tabhub.hub.tabs import Tab, Tabs
from tabhub.hub.texts import readable
from tabhub.rate_limit import RateLimits
from tabhub.wire.plugins import (
    PluginLog,
    PluginLogEntry,
    PluginLogLine,
    PluginLogLines,
    PluginLogsAsked,
)

KEPT = 1000
"""Entries of each plugin."""
MOST_PER_SECOND = 500
"""Of one tab."""
MOST_BYTES = 64 * 1024
MOST_LINES_PER_MINUTE = 300
"""Of one plugin in the server's log."""
LONGEST_LINE = 500
MOST_SHOWN = 200
LONGEST_SHOWN = 2000
"""Lines in the panel, and characters of each."""
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class _KeptEntry(NamedTuple):
    """An entry, and when it came, in seconds since 1970."""

    time: float
    entry: PluginLogEntry


class PluginLogs:
    """The entries of every plugin."""

    def __init__(
        self,
        tabs: Tabs,
        is_known: Callable[[str], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tabs = tabs
        self._is_known = is_known
        self._kept: dict[str, deque[_KeptEntry]] = {}
        self._calls: dict[str, list[Call]] = {}
        self._of_tab = RateLimits[tuple[str, int]](MOST_PER_SECOND, 1.0, clock)
        self._of_plugin = RateLimits[str](MOST_LINES_PER_MINUTE, 60.0, clock)
        self._sending: set[asyncio.Task[None]] = set()

    def size(self, plugin: str) -> int:
        """How many entries are kept of a plugin."""
        return len(self._kept.get(plugin, ()))

    def entries(self, plugin: str) -> list[PluginLogEntry]:
        return [kept.entry for kept in self._kept.get(plugin, ())]

    def lines(self, params: PluginLogsAsked) -> PluginLogLines:
        """The last entries of a plugin as the panel shows them."""
        if not self._is_known(params.plugin) and params.plugin not in self._kept:
            raise NotFound(f"There is no plugin {params.plugin[:LONGEST_LINE]!r}.")
        kept = islice(reversed(self._kept.get(params.plugin, ())), MOST_SHOWN)
        return PluginLogLines(lines=[_line(one) for one in kept][::-1])

    def take(self, browser: str, params: PluginLog) -> None:
        """Take the entries of one plugin in one tab."""
        if not self._is_known(params.plugin):
            return
        tab = self._tabs.by_native(browser, params.tab_id or 0)
        for entry in params.entries:
            if self._of_tab.admit((browser, params.tab_id or 0)):
                return
            self._add(params.plugin, _fitting(entry), self._calls_in(params.plugin, tab))

    def take_of_call(self, plugin: str, tab: Tab, call: Call | None, entry: PluginLogEntry) -> None:
        """Take what a plugin in Python logs in one call, or without one when it is not called."""
        if not self._of_tab.admit((tab.browser, tab.native_id)):
            self._add(plugin, _fitting(entry), [] if call is None else [call])

    def take_printed(self, plugin: str, entry: PluginLogEntry) -> None:
        """Take what the process of a plugin has printed, which belongs to no tab."""
        if self._is_known(plugin) and not self._of_tab.admit((plugin, 0)):
            self._add(plugin, _fitting(entry), [])

    @contextmanager
    def listening(self, call: Call, plugin: str) -> Iterator[None]:
        """Pass on to a call's client what the plugin logs in the call's tab."""
        calls = self._calls.setdefault(plugin, [])
        calls.append(call)
        try:
            yield
        finally:
            calls.remove(call)
            if not calls:
                self._calls.pop(plugin, None)

    def _calls_in(self, plugin: str, tab: Tab | None) -> list[Call]:
        """The calls that may have logged something in a tab: a page does not say which."""
        if tab is None:
            return []
        calls = self._calls.get(plugin, ())
        return [call for call in calls if call.tab is not None and call.tab.id == tab.id]

    def _add(self, plugin: str, entry: PluginLogEntry, calls: list[Call]) -> None:
        kept = self._kept.setdefault(plugin, deque(maxlen=KEPT))
        kept.append(_KeptEntry(time.time(), entry))
        words = _words(entry)
        if not self._of_plugin.admit(plugin):
            logger = logging.getLogger(f"tabhub.plugins.{plugin}")
            logger.log(_LEVELS[entry.level], "%s", escaped(words)[:LONGEST_LINE])
        for call in calls:
            self._send(_passed_on(call, plugin, entry, words))

    def _send(self, sending: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(sending)
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)


async def _passed_on(call: Call, plugin: str, entry: PluginLogEntry, words: str) -> None:
    tab = None if call.tab is None else call.tab.key
    message = {"event": "plugin_log", "plugin": plugin, "tabId": tab, "message": quoted(words)}
    with suppress(OSError):
        await call.log(entry.level, message)


def _fitting(entry: PluginLogEntry) -> PluginLogEntry:
    if len(msgspec.json.encode(entry)) <= MOST_BYTES:
        return entry
    return PluginLogEntry(message=entry.message[: MOST_BYTES // 8], level=entry.level)


def _line(kept: _KeptEntry) -> PluginLogLine:
    text = readable(_words(kept.entry), LONGEST_SHOWN)
    return PluginLogLine(time=int(kept.time * 1000), level=kept.entry.level, text=text)


def _words(entry: PluginLogEntry) -> str:
    data = "" if entry.data in (None, []) else f" {msgspec.json.encode(entry.data).decode()}"
    return entry.message + data
