"""The parts that run plugins, and how they are connected."""

from collections.abc import Callable, Mapping
from typing import Any

from tabhub.browser.link.browsers import Browsers
from tabhub.calls.call import Source
from tabhub.config.paths import Home
from tabhub.config.settings import Limits
from tabhub.hub.hub import Hub
from tabhub.plugins.active import ActivePlugins, Gate
from tabhub.plugins.adapters import AdapterFiles
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.extension_plugins import ExtensionPlugins
from tabhub.plugins.package import Package
from tabhub.plugins.plugin_logs import PluginLogs
from tabhub.plugins.plugin_source import PluginSource
from tabhub.plugins.python.page_operations import Decide, PageServices
from tabhub.plugins.python.python_calls import PythonCalls
from tabhub.plugins.python.python_readiness import PythonReadiness
from tabhub.plugins.readiness import Readiness
from tabhub.plugins.status_tools import SOURCE as STATUS_SOURCE
from tabhub.plugins.status_tools import StatusListing, StatusSource, in_tabs
from tabhub.plugins.tools import SOURCE

Json = dict[str, Any]


class PluginRuntime:
    """Plugins in pages: which may run, where they are ready, their calls and logs."""

    def __init__(
        self,
        home: Home | None,
        hub: Hub,
        browsers: Browsers,
        limits: Callable[[], Limits],
        packages: Callable[[], Mapping[str, Package]],
        gate: Gate,
        values: Callable[[Package], Mapping[str, Any]],
        decide: Decide,
        discovered: Plugins,
    ) -> None:
        copies = (home.extension, home.managed_extension) if home else ()
        self.active = ActivePlugins(packages, gate, values, AdapterFiles(copies), browsers)
        self.readiness = Readiness(hub.tabs)
        self.logs = PluginLogs(hub.tabs, lambda name: self.active.find(name) is not None)
        self.messages = ExtensionPlugins(self.active, self.readiness, self.logs)
        services = PageServices(browsers, hub.tabs, self.active, self.logs, decide)
        self.python = PythonCalls(services, discovered)
        self._python_readiness = PythonReadiness(
            hub.tabs, browsers, self.active, self.readiness, self.python.readiness
        )
        self.sources: dict[str, Source] = {
            SOURCE: PluginSource(
                hub, browsers, self.active, self.readiness, self.logs, limits, self.python
            ),
            STATUS_SOURCE: StatusSource(self.active, self.readiness),
        }
        self._listing = StatusListing(hub.tools, self.active)
        self._is_serving = False
        """Whether there is an event loop, which processes need."""
        browsers.plugin_tabs = self.messages.tabs_known

    def refresh(self) -> None:
        """Take packages, reviews, levels and settings as they are now."""
        self.active.refresh()
        self._listing.refresh()
        if self._is_serving:
            self._refresh_python()

    async def look_after(self) -> None:
        """Loop: start what plugins in Python need, and ask now and then where they are ready."""
        self._is_serving = True
        self._refresh_python()
        await self._python_readiness.poll()

    async def stop(self) -> None:
        """End the processes of plugins."""
        self._is_serving = False
        await self._python_readiness.stop()
        await self.python.stop()

    def _refresh_python(self) -> None:
        self.python.refresh()
        self._python_readiness.ask_all()

    def in_tabs(self, package: Package) -> Json:
        """What `/health` says about a plugin in the open tabs."""
        plugin = self.active.find(package.name)
        state: Json = {"tabState": "closed", "tabs": []}
        if plugin is not None:
            state = in_tabs(plugin, self.readiness)
        return {**state, "logBufferSize": self.logs.size(package.name)}
