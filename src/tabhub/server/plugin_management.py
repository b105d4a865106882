"""What the person does with plugins while the server runs: installing, settings, folders."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from tabhub.config.environment import read_npmrc
from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.config.settings import load as load_settings
from tabhub.errors import InvalidArguments, Unavailable
from tabhub.plugins import plugin_settings
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.folders import show_folder
from tabhub.plugins.npm.npm_registry import Registry
from tabhub.plugins.npm.package_installation import Installation, Installed, UpdateCheck
from tabhub.plugins.package import Package
from tabhub.wire import plugin_requests as wire
from tabhub.wire.panel import SettingShown

log = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[object]]

STEP_SECONDS = 60.0
"""How often it is seen whether a check for updates is due, since the setting can change."""


class PluginManagement:
    """Implements the panel's requests about plugins, and `/plugin-settings`."""

    def __init__(
        self,
        home: Home | None,
        settings: Settings,
        plugins: Plugins,
        is_reviewed: Callable[[Package], bool],
        forget: Callable[[str], object],
    ) -> None:
        """`forget` drops the review and the level of a plugin that was removed."""
        self._home = home
        self._settings = settings
        self._plugins = plugins
        self._forget = forget
        self._registry = Registry(read_npmrc)
        self._installation = (
            Installation(home.plugins, self._registry, is_reviewed) if home else None
        )
        self._listeners: list[Callable[[], object]] = []
        self.last_check = UpdateCheck([], {})
        """What the last check for updates has found."""

    def on_change(self, callback: Callable[[], object]) -> None:
        """Call back when something was installed or removed, or settings have changed."""
        self._listeners.append(callback)

    def changed(self) -> None:
        """Look for plugins again, and tell who depends on them or on their settings."""
        self._plugins.reload()
        self._notify()

    def values(self, package: Package) -> Mapping[str, Any]:
        """The settings that a plugin gets."""
        return plugin_settings.in_force(package, self._settings.settings.get(package.name, {}))

    def instances(self, package: Package) -> tuple[str, ...]:
        """The names of the sites that the person has set for a plugin."""
        stored = self._settings.settings.get(package.name, {})
        return tuple(plugin_settings.instances(package, stored))

    def settings_of(self, package: Package) -> list[SettingShown]:
        """The settings of a plugin for the panel, without their values."""
        stored = self._settings.settings.get(package.name, {})
        return [
            SettingShown(
                key=key,
                type=setting.type,
                label=setting.label,
                description=setting.description,
                required=setting.required,
                options=list(setting.options),
                is_set=key in stored,
            )
            for key, setting in package.settings.items()
        ]

    def waiting_version(self, package: Package) -> str | None:
        """The version that waits for a review beside the installed one."""
        if self._installation is None or package.kind != "installed":
            return None
        waiting = self._installation.waiting(package.name)
        return None if waiting is None else waiting.version

    def latest_version(self, package: Package) -> str | None:
        """The newer version that the last check has found, unless it was fetched since."""
        for update in self.last_check.updates:
            if update.package == package.package:
                known = (package.version, self.waiting_version(package))
                return None if update.latest in known else update.latest
        return None

    def configure(self, name: str, given: Mapping[str, Any]) -> None:
        """Change settings of a plugin; null removes one. If a value is wrong, none is changed."""
        if name not in self._plugins.all():
            self._plugins.reload()
        package, home = self._plugins.get(name), self._home
        if home is None:
            stored = self._settings.settings.get(name, {})
            self._settings.settings[name] = plugin_settings.changed(package, stored, given)
        else:
            plugin_settings.store(home, package, given)
            self._settings.settings = load_settings(home).settings
        self.changed()

    async def search(self, query: str) -> wire.PluginResults:
        found = await self._registry.search(query)
        return wire.PluginResults(
            results=[
                wire.PluginResult(
                    name=entry.package,
                    plugin=entry.name,
                    version=entry.version,
                    description=entry.description,
                )
                for entry in found
            ]
        )

    async def install(self, specifier: str) -> wire.PluginInstalled:
        return self._installed(await self._required().install(specifier))

    async def update(self, name: str) -> wire.PluginInstalled:
        """Fetch the latest version; if there is no newer one, what is there already."""
        installation = self._required()
        updated = await installation.update(name)
        return self._installed(updated or Installed(installation.newest(name), is_new=False))

    async def remove(self, name: str) -> wire.PluginRemoved:
        await asyncio.to_thread(self._required().remove, name)
        self._drop(name)
        return wire.PluginRemoved()

    async def remove_package(self, specifier: str) -> wire.PluginRemoved:
        return await self.remove(self._required().name_of(specifier))

    async def check_updates(self) -> wire.OutdatedPlugins:
        """Ask the registry which installed plugins have newer versions."""
        if self._installation is not None:
            self.last_check = await self._installation.check()
            self._notify()
        return wire.OutdatedPlugins(
            outdated=[
                wire.OutdatedPlugin(
                    name=update.name,
                    package=update.package,
                    current_version=update.current,
                    latest_version=update.latest,
                )
                for update in self.last_check.updates
            ],
            failed=self.last_check.failed,
        )

    async def open_folder(self, path: str) -> None:
        """Show the folder of a plugin, and no other, in the system's file manager."""
        folder = Path(path).expanduser()
        if folder not in self._folders() or not folder.is_dir():
            raise InvalidArguments("Only folders of plugins can be opened. Nothing was done.")
        await show_folder(folder)

    async def look_after(self, sleep: Sleep = asyncio.sleep) -> None:
        """Loop: check for updates as often as the settings say."""
        minutes = 0.0
        while True:
            await sleep(STEP_SECONDS)
            minutes += STEP_SECONDS / 60
            if 0 < self._settings.plugin_update_minutes <= minutes:
                minutes = 0.0
                await self._check_quietly()

    async def _check_quietly(self) -> None:
        before = self.last_check.updates
        try:
            await self.check_updates()
        except Exception:
            log.exception("looking for newer versions of plugins failed")
        for name, message in self.last_check.failed.items():
            log.warning("no newer version of the plugin %s was looked for: %s", name, message)
        for update in self.last_check.updates:
            if update not in before:
                log.info("%s %s is there: tabhub plugin update", update.package, update.latest)

    def _required(self) -> Installation:
        if self._installation is None:
            raise Unavailable("This server has no home to install in.", "server_unavailable")
        return self._installation

    def _installed(self, done: Installed) -> wire.PluginInstalled:
        package = done.package
        if done.is_new:
            self.changed()
        return wire.PluginInstalled(
            plugin=wire.PluginInPlace(
                name=package.name,
                display_name=package.title,
                package=package.package,
                version=package.version,
                tool_count=len(package.tools),
                waits=done.waits,
                is_new=done.is_new,
            )
        )

    def _drop(self, name: str) -> None:
        """Remove what was kept about a plugin: its settings may be secrets."""
        self._forget(name)
        if self._home is not None:
            plugin_settings.forget(self._home, name)
        self._settings.settings.pop(name, None)
        self.changed()

    def _folders(self) -> set[Path]:
        found = {package.folder for package in self._plugins.all().values()}
        found |= {failed.folder for failed in self._plugins.failed}
        return found | {self._home.plugins} if self._home else found

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()
