"""The tools of reviewed plugins in the hub, each behind the gate of its review."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import msgspec

from tabhub.calls.authorization import Guard
from tabhub.calls.marks import quoted
from tabhub.config.clients import MAIN
from tabhub.hub.tools import BoundedSchema, Tool, ToolRegistry, with_property
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.package import Package, PluginTool
from tabhub.plugins.review import Reviews
from tabhub.wire.tool_names import listed_name, plugin_tool_name

SOURCE = "plugin"
TOOLSETS = frozenset({"plugins"})
TAB_ID = "tabId"
INSTANCE = "instance"
ABOUT_TAB = "Optional: the tab to use, by an id of plugin_list_tabs; else the best one."
ABOUT_INSTANCE = "Which of the configured sites to use."
WHY = {
    "never": "the person has not reviewed this plugin",
    "changed": "this plugin has changed since the person reviewed it",
    "reviewed": "",
}

Instances = Callable[[Package], tuple[str, ...]]
"""The names of the sites that the person has set for a plugin."""
_Content = tuple[Package, tuple[str, ...]]


class PluginSchema(BoundedSchema):
    """The schema of a plugin's tool. The parameter for the tab is only in what agents see."""

    __slots__ = ()

    def plain(self) -> dict[str, Any]:
        schema = self.published()
        return {**schema, "properties": {TAB_ID: _tab(), **schema["properties"]}}

    def written(self) -> bytes:
        return with_property(self.own, TAB_ID, _tab())


def _tab() -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "description": ABOUT_TAB}


class PluginTools:
    """Keeps the tools of reviewed plugins in the hub; of all others nothing is listed."""

    def __init__(
        self, tools: ToolRegistry, plugins: Plugins, reviews: Reviews, instances: Instances
    ) -> None:
        self._tools = tools
        self._plugins = plugins
        self._reviews = reviews
        self._instances = instances
        self._listed: dict[str, tuple[_Content, tuple[str, ...]]] = {}
        """By plugin: what its tools were made from, and their names."""
        tools.about_missing = self._about_missing
        plugins.on_change(self.refresh)
        reviews.on_change(self.refresh)

    def refresh(self) -> None:
        """List what is reviewed now, and nothing else; one notification for all changes."""
        wanted = {name: (package, self._instances(package)) for name, package in self._open()}
        changed = (name for name, (old, _) in self._listed.items() if wanted.get(name) != old)
        gone = [name for name in changed if name not in self._being_described()]
        removed = [tool for name in gone for tool in self._listed.pop(name)[1]]
        put: list[Tool] = []
        for name in sorted(wanted.keys() - self._listed.keys()):
            made = self._tools_of(*wanted[name])
            self._listed[name] = (wanted[name], tuple(tool.name for tool in made))
            put += made
        if removed or put:
            self._tools.change(put, removed)

    def _being_described(self) -> set[str]:
        """In dev mode: changed plugins in Python. Until they are known, the list stays as it is."""
        return {
            package.name
            for package in self._plugins.all().values()
            if not package.is_complete and self._reviews.is_trusted(package)
        }

    def gate(self, package: Package) -> str:
        """Why a plugin is closed, whatever the rules say; empty if it is open."""
        return "" if self._reviews.is_open(package) else WHY[self._reviews.state(package)]

    def _open(self) -> Iterator[tuple[str, Package]]:
        for name, package in self._plugins.all().items():
            if self._reviews.is_open(package) and package.is_complete:
                yield name, package

    def _tools_of(self, package: Package, instances: tuple[str, ...]) -> list[Tool]:
        gate, in_development = partial(self.gate, package), self._reviews.is_trusted(package)
        return [
            Tool(
                name=plugin_tool_name(package.name, tool.name),
                description=tool.description,
                input_schema=_schema(tool, instances),
                source=SOURCE,
                title=tool.title,
                annotations=_hints(package, tool),
                seconds=tool.seconds,
                plugin=package.name,
                toolsets=TOOLSETS,
                tab_argument=TAB_ID,
                gate=gate,
                in_development=in_development,
            )
            for tool in package.tools
        ]

    def _about_missing(self, name: str) -> str:
        """The reason why a plugin's tool is not there, for whoever knows its name."""
        plugin = listed_name(name).partition("_")[0]
        package = self._plugins.all().get(plugin)
        if package is None:
            return self._about_failed(plugin)
        why = self.gate(package)
        if why:
            return _unreviewed(plugin, why)
        if not package.is_complete:
            return f"{plugin} is being loaded for the first time; try again in a few seconds."
        return ""

    def _about_failed(self, plugin: str) -> str:
        """Why a plugin is not loaded: of one that was not reviewed, no agent reads a word."""
        failed = self._plugins.find_failed(plugin)
        if failed is None:
            return ""
        if failed.package is None:
            return f"{plugin} is not loaded. The person can see why: tabhub plugin list"
        why = self.gate(failed.package)
        if why:
            return _unreviewed(plugin, why)
        return f"{plugin} cannot be used: {quoted(failed.message)}"


def _unreviewed(plugin: str, why: str) -> str:
    command = f"tabhub plugin review {plugin}"
    return f"Nothing of {plugin} can be used: {why}. The person can run: {command}"


def _hints(package: Package, tool: PluginTool) -> dict[str, Any]:
    """What the author says about a tool; the format of OpenTabs says nothing."""
    if package.python is None:
        return {}
    return {"readOnlyHint": tool.read_only, "destructiveHint": tool.destructive}


def _schema(tool: PluginTool, instances: tuple[str, ...]) -> PluginSchema:
    """The schema, with the instance to choose where there are several."""
    if len(instances) < 2:
        return PluginSchema(tool.input_schema)
    choice = {"type": "string", "enum": list(instances), "description": ABOUT_INSTANCE}
    schema = BoundedSchema(with_property(tool.input_schema, INSTANCE, choice)).published()
    required = [INSTANCE, *schema.get("required", ())]
    return PluginSchema(msgspec.json.encode({**schema, "required": required}))


class PluginGate:
    """Whether the code of a plugin may be in pages: it is reviewed, and some tool is not off."""

    def __init__(self, tools: ToolRegistry, reviews: Reviews, guard: Guard) -> None:
        self._tools = tools
        self._reviews = reviews
        self._guard = guard

    def closed(self, package: Package) -> Literal["off", "not_reviewed"] | None:
        """Why its code may not run; None if it may."""
        if not self._reviews.is_open(package):
            return "not_reviewed"
        tools = self._listed(package) if package.is_complete else self._unlisted(package)
        usable = any(not self._guard.is_off(tool, MAIN) for tool in tools)
        return None if usable else "off"

    def _listed(self, package: Package) -> Iterator[Tool]:
        names = (plugin_tool_name(package.name, tool.name) for tool in package.tools)
        return filter(None, map(self._tools.find, names))

    def _unlisted(self, package: Package) -> Iterator[Tool]:
        """The tools of a plugin whose process has not described them yet."""
        for tool in package.tools:
            yield Tool(
                name=plugin_tool_name(package.name, tool.name),
                description=tool.description,
                input_schema={},
                source=SOURCE,
                plugin=package.name,
                toolsets=TOOLSETS,
                in_development=self._reviews.is_trusted(package),
            )
