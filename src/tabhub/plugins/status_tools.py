"""Tools that say where plugins can be used, and why not: plugin_list_tabs, extension_check_adapter.

Of a plugin that nobody has reviewed, agents learn no more than that.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tabhub.calls.call import Call, Source
from tabhub.calls.marks import quoted
from tabhub.calls.results import as_told, done
from tabhub.errors import NotFound
from tabhub.hub.tools import ToolRegistry
from tabhub.permissions.sites import MayTell
from tabhub.plugins.active import ActivePlugin, ActivePlugins
from tabhub.plugins.readiness import PluginInTab, Readiness, TabReadiness
from tabhub.plugins.tools import TOOLSETS
from tabhub.wire.mcp.messages import CallResult

SOURCE = "plugin-status"
Json = dict[str, Any]

LIST_TABS = "plugin_list_tabs"


class StatusListing:
    """Puts plugin_list_tabs into the toolset of plugins, while there is one that may be used."""

    def __init__(self, tools: ToolRegistry, plugins: ActivePlugins) -> None:
        self._tools = tools
        self._plugins = plugins

    def refresh(self) -> None:
        tool = self._tools.find(LIST_TABS)
        if tool is not None:
            is_useful = any(plugin.closed is None for plugin in self._plugins)
            others = tool.toolsets - TOOLSETS
            self._tools.replace(replace(tool, toolsets=others | TOOLSETS if is_useful else others))


class StatusSource(Source):
    """Runs these tools, from what the browsers have reported."""

    def __init__(self, plugins: ActivePlugins, readiness: Readiness) -> None:
        self._plugins = plugins
        self._readiness = readiness

    async def run(self, call: Call) -> CallResult:
        name = call.arguments.get("plugin")
        found = self._shown() if name is None else [self._named(name)]
        rows = [self._row(plugin, call) for plugin in found]
        text = "\n".join(_lines(rows)) or "No plugin can be used: none is installed and reviewed."
        if call.tool.name == LIST_TABS:
            return done(text, {"plugins": rows})
        return done(text, {**rows[0], **_adapter(found[0])})

    def _shown(self) -> list[ActivePlugin]:
        return [plugin for plugin in self._plugins if plugin.closed != "not_reviewed"]

    def _named(self, name: str) -> ActivePlugin:
        plugin = self._plugins.find(name)
        if plugin is None:
            raise NotFound(f"There is no plugin {name[:100]!r}.", effect="none")
        return plugin

    def _row(self, plugin: ActivePlugin, call: Call) -> Json:
        if plugin.closed == "not_reviewed":
            return {"name": plugin.name, "reason": "not_reviewed", "tabs": []}
        reason = self._readiness.reason(plugin)
        tabs = [_tab_row(found, call.may_tell) for found in self._readiness.tabs_of(plugin)]
        homepage = {"homepage": plugin.homepage} if reason == "no_tab" and plugin.homepage else {}
        unset = _without_none(missingSettings=plugin.missing_settings)
        members = {**_without_none(reason=reason), **homepage, **unset}
        return {"name": plugin.name, "tabs": tabs, **members}


def _tab_row(found: PluginInTab, may_tell: MayTell) -> Json:
    tab = as_told(found.tab, may_tell)
    return {
        "tabId": tab.key,
        "url": tab.url,
        "title": tab.title,
        **readiness_data(found.readiness),
        **_without_none(instance=found.instance),
    }


def in_tabs(plugin: ActivePlugin, readiness: Readiness) -> Json:
    """The state of a plugin in the open tabs, with the words of OpenTabs and with our reason."""
    found = readiness.tabs_of(plugin)
    reason = readiness.reason(plugin)
    without_ready = "unavailable" if found else "closed"
    return {
        "tabState": "ready" if reason is None else without_ready,
        "tabs": [_tab_row(each, None) for each in found],
        **_without_none(reason=reason, missingSettings=plugin.missing_settings),
    }


def readiness_data(found: TabReadiness) -> Json:
    """Readiness as every report has it."""
    return {"ready": found.ready, **_without_none(reason=found.reason, message=found.message)}


def _adapter(plugin: ActivePlugin) -> Json:
    if plugin.closed == "not_reviewed":
        return {}
    package = plugin.package
    return {
        "version": package.version,
        **_without_none(
            adapter=package.digest_of(package.adapter),
            preScript=package.digest_of(package.pre_script),
        ),
    }


def _without_none(**members: Any) -> Json:
    return {name: value for name, value in members.items() if value}


def _lines(rows: Iterable[Json]) -> Iterable[str]:
    for row in rows:
        if not row["tabs"]:
            where = f" Open {row['homepage']} to use it." if "homepage" in row else ""
            unset = ", ".join(row.get("missingSettings", ()))
            settings = f" The person has to set {unset} first." if unset else ""
            yield f"{row['name']}: {row.get('reason', 'no_tab')}.{settings}{where}"
        for tab in row["tabs"]:
            state = "ready" if tab["ready"] else tab["reason"]
            words = f" {quoted(tab['message'])}" if tab.get("message") else ""
            yield f"{row['name']}: tab {tab['tabId']} {state}.{words}"
