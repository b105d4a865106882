"""The plugins as `/health` and the side panel show them."""

from collections.abc import Callable
from typing import Any

from tabhub.plugins.discovery import Plugins
from tabhub.plugins.package import Package
from tabhub.plugins.review import Reviews
from tabhub.plugins.tools import PluginGate
from tabhub.server.plugin_management import PluginManagement
from tabhub.wire import panel
from tabhub.wire.tool_names import plugin_tool_name

Json = dict[str, Any]
SOURCES = {"installed": "npm", "local": "local", "environment": "python"}
"""What OpenTabs calls the first two."""
IN_NO_TAB: Json = {"tabState": "closed", "tabs": [], "logBufferSize": 0}
NOT_WATCHED: Json = {
    "watchedPlugins": 0,
    "pendingPlugins": 0,
    "lastPollAt": None,
    "pollDetections": 0,
}


class PluginReport:
    """What there is to say about the plugins: to the person all of it, to agents what is listed."""

    def __init__(
        self,
        plugins: Plugins,
        reviews: Reviews,
        gate: PluginGate,
        management: PluginManagement,
    ) -> None:
        self._plugins = plugins
        self._reviews = reviews
        self._gate = gate
        self._management = management
        self.in_tabs: Callable[[Package], Json] = lambda package: IN_NO_TAB
        """The state of a plugin in the tabs that are open."""
        self.file_watcher: Callable[[], Json] = lambda: NOT_WATCHED
        """What there is to say about the watched folders."""

    def health(self) -> Json:
        return {
            "plugins": len(self._plugins.all()),
            "pluginDetails": [self._details(package) for package in self._all()],
            "failedPlugins": [
                {
                    "path": str(failed.folder),
                    "name": failed.name,
                    "error": failed.message,
                    "reason": failed.reason,
                }
                for failed in self._plugins.failed
            ],
            "discoveryErrors": self._plugins.faults,
            "fileWatcher": self.file_watcher(),
            "trustedPlugins": self.trusted(),
        }

    def client_health(self) -> Json:
        """For an agent: no word of a plugin that no person has reviewed, and no folder."""
        open_ones = [package for package in self._all() if self._reviews.is_open(package)]
        return {
            "plugins": len(open_ones),
            "pluginDetails": [_without_pages(self._listed(package)) for package in open_ones],
            "fileWatcher": self.file_watcher(),
        }

    def trusted(self) -> list[str]:
        """The plugins that run without a review, because the person works on them in dev mode."""
        is_trusted = self._reviews.is_trusted
        return [package.name for package in self._all() if is_trusted(package)]

    def in_panel(self) -> list[panel.PluginShown]:
        return [self._shown(package) for package in self._all()]

    def failed(self) -> list[panel.FailedPluginShown]:
        return [
            panel.FailedPluginShown(str(failed.folder), failed.reason, failed.message)
            for failed in self._plugins.failed
        ]

    def _all(self) -> list[Package]:
        return sorted(self._plugins.all().values(), key=lambda package: package.name)

    def _listed(self, package: Package) -> Json:
        return {
            "name": package.name,
            "displayName": package.title,
            "version": package.version,
            "toolCount": len(package.tools),
            "tools": [plugin_tool_name(package.name, tool.name) for tool in package.tools],
            "source": SOURCES[package.kind],
            "language": "javascript" if package.python is None else "python",
            "sdkVersion": package.sdk_version or None,
            **self.in_tabs(package),
        }

    def _details(self, package: Package) -> Json:
        icon = {"iconSvg": package.icon_svg} if package.icon_svg else {}
        return {
            **self._listed(package),
            **icon,
            "package": package.package,
            "folder": str(package.folder),
            "review": self._reviews.state(package),
            "trusted": self._reviews.is_trusted(package),
            "closed": self._gate.closed(package),
            "loaded": package.is_complete,
        }

    def _shown(self, package: Package) -> panel.PluginShown:
        last = self._reviews.last(package.name)
        return panel.PluginShown(
            name=package.name,
            title=package.title,
            description=package.description,
            package=package.package,
            version=package.version,
            source=package.kind,
            folder=str(package.folder),
            url_patterns=list(package.url_patterns),
            exclude_patterns=list(package.exclude_patterns),
            homepage=package.homepage,
            tools=len(package.tools),
            has_pre_script=package.pre_script is not None,
            has_settings=bool(package.settings),
            review=self._reviews.state(package),
            trusted=self._reviews.is_trusted(package),
            reviewed_version=None if last is None else last.version,
            closed=self._gate.closed(package),
            settings=self._management.settings_of(package),
            waiting_version=self._management.waiting_version(package),
            latest_version=self._management.latest_version(package),
            tabs=[
                panel.PluginTabShown(
                    tab_id=tab["tabId"],
                    ready=tab["ready"],
                    reason=tab.get("reason"),
                    message=tab.get("message", ""),
                )
                for tab in self.in_tabs(package)["tabs"]
            ],
        )


def _without_pages(details: Json) -> Json:
    """For an agent: it may not know which pages are open; plugin_list_tabs says what it may."""
    told = ("tabId", "ready", "reason")
    tabs = [{name: tab[name] for name in told if name in tab} for tab in details["tabs"]]
    return {**details, "tabs": tabs}
