"""What a person does with plugins in the panel: the params and results of its requests.

The members have the names that OpenTabs gives them; what is added says more.
"""

from tabhub.wire.link import LinkStruct


class PluginSearch(LinkStruct):
    """`plugin.search`."""

    query: str


class PluginResult(LinkStruct):
    """A package that a search has found."""

    name: str
    """The package's name, for `plugin.install`."""
    plugin: str
    """The name that the plugin would have."""
    version: str
    description: str


class PluginResults(LinkStruct):
    """The result of `plugin.search`, the best first."""

    results: list[PluginResult]


class PluginInstall(LinkStruct):
    """`plugin.install`: a package, also with a version or a tag, such as `name@1.2.3`."""

    name: str


class PluginNamed(LinkStruct):
    """`plugin.updateFromRegistry` and `plugin.remove`: the plugin's own name."""

    name: str


class PluginSpecified(LinkStruct):
    """`plugin.removeBySpecifier`: the package that was installed."""

    specifier: str


class PluginInPlace(LinkStruct):
    """A plugin as it was installed."""

    name: str
    display_name: str
    package: str
    version: str
    tool_count: int
    waits: bool
    """Whether it waits for a review beside the reviewed version, which keeps running."""
    is_new: bool
    """False if exactly this version was there before."""


class PluginInstalled(LinkStruct):
    """The result of `plugin.install` and `plugin.updateFromRegistry`."""

    plugin: PluginInPlace
    ok: bool = True


class PluginRemoved(LinkStruct):
    """The result of `plugin.remove` and `plugin.removeBySpecifier`."""

    ok: bool = True


class OutdatedPlugin(LinkStruct):
    """An installed plugin of which the registry has a newer version."""

    name: str
    package: str
    current_version: str
    latest_version: str


class OutdatedPlugins(LinkStruct):
    """The result of `plugin.checkUpdates`."""

    outdated: list[OutdatedPlugin]
    failed: dict[str, str]
    """Why some plugins could not be checked, by name."""


class FolderOpen(LinkStruct):
    """`folder.open`: the folder of a plugin, or the one with all installed plugins."""

    path: str
