"""`tabhub plugin link`, and removing what was linked: plugins in folders of the person's own."""

from pathlib import Path

from tabhub.cli import running
from tabhub.cli.output import harmless
from tabhub.cli.own_program import command_text
from tabhub.cli.plugin.plugin_list import plugins_of
from tabhub.config import keys, settings
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, NotFound
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.package import Package


def link(folder: Path) -> None:
    """Add a folder, or a file, to those of plugins that the person works on."""
    path = folder.expanduser().absolute()
    if not path.exists():
        raise NotFound(f"{path} does not exist. Nothing was done.")
    home = Home.from_environment().create()
    before = settings.load(home).local_plugins
    if str(path) not in before:
        keys.set_value(home, ("localPlugins",), [*before, str(path)])
    try:
        package = _linked(home, path)
    except InvalidArguments:
        keys.set_value(home, ("localPlugins",), before)
        raise
    running.reload(home)
    command = command_text("plugin", "review", package.name)
    print(harmless(f"Linked: {package.name}, in {path}. It runs once you have reviewed it:"))
    print(f"    {command}")


def _linked(home: Home, path: Path) -> Package:
    """The plugin at a path; an error that says why there is none."""
    plugins = plugins_of(home)
    for package in plugins.all().values():
        if path in _places(package):
            return package
    for failed in plugins.failed:
        if failed.folder == path:
            raise InvalidArguments(f"{failed.message} Nothing was done.")
    raise InvalidArguments(f"There is no plugin in {path}. Nothing was done.")


def find_linked(home: Home, name: str) -> Package | Path | None:
    """What was linked under this name or path; a path if there is no plugin any more."""
    plugins, path = plugins_of(home), Path(name).expanduser().absolute()
    for package in plugins.all().values():
        if package.kind == "local" and (package.name == name or path in _places(package)):
            return package
    lost = _lost(home, plugins)
    return next((place for place in lost if place == path or lost[place] == name), None)


def about_lost(home: Home) -> str:
    """How to forget the linked folders that have no plugin any more."""
    commands = [
        command_text("plugin", "remove", str(place)) for place in _lost(home, plugins_of(home))
    ]
    return f" Linked folders without a plugin: {', '.join(commands)}" if commands else ""


def _lost(home: Home, plugins: Plugins) -> dict[Path, str]:
    """The linked places that have no plugin, and what one would call it."""
    known = {Path(name).expanduser() for name in settings.load(home).local_plugins}
    return {failed.folder: failed.name for failed in plugins.failed if failed.folder in known}


def _places(package: Package) -> set[Path]:
    """By which paths a plugin may have been linked."""
    return {package.folder, *(package.folder / name for name in package.digests)}


def unlink(home: Home, linked: Package | Path) -> None:
    """Take a plugin out of `localPlugins`; its folder stays."""
    known = settings.load(home).local_plugins
    places = {linked} if isinstance(linked, Path) else _places(linked)
    left = [name for name in known if Path(name).expanduser() not in places]
    if left == known and isinstance(linked, Package):
        raise NotFound(
            f"{linked.name} is in a folder of localPluginDirs: {linked.folder}. Move it "
            "elsewhere, or take the folder out: "
            f"{command_text('config', 'get', 'localPluginDirs')}"
        )
    keys.set_value(home, ("localPlugins",), left)
