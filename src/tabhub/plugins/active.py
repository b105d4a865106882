"""Which plugins may run in pages now, with which settings, and telling the browsers about it."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from tabhub.browser.link.browsers import Browser, Browsers
from tabhub.errors import TabhubError
from tabhub.permissions.sites import site_of
from tabhub.plugins.adapters import AdapterFiles, code_of, file_name
from tabhub.plugins.package import Digests, Package, PluginTool
from tabhub.plugins.plugin_settings import missing
from tabhub.plugins.url_patterns import matches_any, parse_pattern
from tabhub.wire import link
from tabhub.wire.link import PluginCode
from tabhub.wire.plugins import PluginUninstall, PluginUninstalled, PluginUpdate
from tabhub.wire.tool_names import plugin_tool_name

log = logging.getLogger(__name__)

Closed = Literal["off", "not_reviewed"]
Values = Callable[[Package], Mapping[str, Any]]
"""The settings that a plugin gets; those of type url are addresses by instance."""
Leftovers = Callable[[str, str, list[int]], None]
"""Takes a browser, a plugin that has ended there, and the tabs that still need a reload."""


class Gate(Protocol):
    """Whether a plugin's code may run at all."""

    def closed(self, package: Package) -> Closed | None:
        """Why it may not; None if it may."""


class ActivePlugin(Struct, frozen=True, dict=True):
    """A plugin with its settings, and whether its code may run."""

    package: Package
    closed: Closed | None
    instances: dict[str, str]
    """The addresses that the person has set, by the name of the instance."""
    code: PluginCode
    """What extensions have of it; nothing of a plugin in Python is theirs to run."""

    @property
    def name(self) -> str:
        return self.package.name

    @cached_property
    def tools(self) -> dict[str, PluginTool]:
        """Its tools by the names under which they are listed."""
        package = self.package
        return {plugin_tool_name(package.name, tool.name): tool for tool in package.tools}

    @property
    def homepage(self) -> str:
        """Where to open it; empty if nobody says."""
        return self.package.homepage or next(iter(self.instances.values()), "")

    @property
    def missing_settings(self) -> list[str]:
        """The required settings that nobody has set."""
        return missing(self.package, {**self.code.settings, **self.code.urls})

    @property
    def setting_advice(self) -> str:
        """What the person has to do about them; empty if there are none."""
        names = ", ".join(self.missing_settings)
        advice = f"Its required settings are not set ({names}): tabhub plugin configure {self.name}"
        return advice if names else ""

    def matches(self, url: str) -> bool:
        patterns = tuple(self.code.url_patterns)
        return matches_any(patterns, url, tuple(self.code.exclude_patterns))

    def instance_of(self, url: str) -> str | None:
        """The instance that an address belongs to."""
        site = site_of(url)
        named = (name for name, address in self.instances.items() if site_of(address) == site)
        return next(named, None)


class ActivePlugins:
    """The plugins in use; browsers learn every change at once."""

    def __init__(
        self,
        packages: Callable[[], Mapping[str, Package]],
        gate: Gate,
        values: Values,
        files: AdapterFiles,
        browsers: Browsers,
    ) -> None:
        self.packages = packages
        self.gate = gate
        self.values = values
        self._files = files
        self._browsers = browsers
        self._all: dict[str, ActivePlugin] = {}
        self._written: dict[str, Digests] | None = None
        """Whose files the extensions have now."""
        self._without_files: set[str] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self.left_over: Leftovers = lambda browser, plugin, tabs: None

    def __iter__(self) -> Iterator[ActivePlugin]:
        return iter(self._all.values())

    def find(self, name: str) -> ActivePlugin | None:
        return self._all.get(name)

    def codes(self) -> list[PluginCode]:
        """What browsers may run."""
        usable = (plugin for plugin in self if plugin.closed is None)
        return [plugin.code for plugin in usable if plugin.package.python is None]

    def code(self, name: str, digest: str) -> bytes | None:
        """The code with this digest, if it may run."""
        plugin = self.find(name)
        if plugin is None or plugin.closed is not None:
            return None
        return (code_of(plugin.package) or {}).get(file_name(name, digest))

    def write_files(self) -> None:
        """Write the files again: an extension misses one."""
        self._written = None
        self.refresh()

    def refresh(self) -> None:
        """Take packages, reviews, levels and settings as they are now."""
        before, known = {code.name: code for code in self.codes()}, self._all
        self._all = self._current()
        now = {code.name: code for code in self.codes()}
        for name in before.keys() - now.keys():
            self._uninstall(name)
        for name, code in now.items():
            if before.get(name) != code:
                update = PluginUpdate(plugin=code)
                self._browsers.notify_all("plugin.update", update, remote=True)
        if self._all != known:
            self._browsers.notify_all("plugins.changed", link.Nothing())

    def _current(self) -> dict[str, ActivePlugin]:
        found = {name: self._active(package) for name, package in self.packages().items()}
        may_run = [plugin.package for plugin in found.values() if plugin.closed is None]
        wanted = {package.name: package.digests for package in may_run}
        if wanted != self._written:
            self._without_files = self._files.write(may_run)
            self._written = wanted
        return {
            name: _closed(plugin) if name in self._without_files else plugin
            for name, plugin in found.items()
        }

    def _active(self, package: Package) -> ActivePlugin:
        values = self.values(package)
        urls = dict(_urls(package, values))
        instances = {name: url for named in urls.values() for name, url in named.items()}
        others = {name: value for name, value in values.items() if name not in urls}
        patterns = [*package.url_patterns, *filter(None, map(_pattern_of, instances.values()))]
        code = PluginCode(
            name=package.name,
            version=package.version,
            url_patterns=list(dict.fromkeys(patterns)),
            exclude_patterns=list(package.exclude_patterns),
            adapter=package.digest_of(package.adapter) or "",
            pre_script=package.digest_of(package.pre_script),
            settings=others,
            urls=urls,
        )
        return ActivePlugin(package, self.gate.closed(package), instances, code)

    def _uninstall(self, name: str) -> None:
        for browser in self._browsers.all():
            task = asyncio.ensure_future(self._end_in(browser, name))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _end_in(self, browser: Browser, name: str) -> None:
        try:
            done: PluginUninstalled = await browser.connection.uninstall(PluginUninstall(name=name))
        except TabhubError as error:
            # A browser that connects again gets the list without the plugin.
            log.warning("the plugin %s may still be in pages of %s: %s", name, browser, error)
            return
        self.left_over(browser.id, name, done.need_reload)


def _closed(plugin: ActivePlugin) -> ActivePlugin:
    """The plugin, whose code is no longer what was reviewed."""
    return ActivePlugin(
        plugin.package, plugin.closed or "not_reviewed", plugin.instances, plugin.code
    )


def _urls(package: Package, values: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """The settings of type url: addresses by instance."""
    for name, setting in package.settings.items():
        if setting.type == "url":
            yield name, dict(values.get(name, {}))


def _pattern_of(url: str) -> str | None:
    """The pattern of all pages at an address's host; None if there can be none."""
    try:
        pattern = f"*://{urlsplit(url).netloc.lower()}/*"
        parse_pattern(pattern)
    except ValueError:
        return None
    return pattern
