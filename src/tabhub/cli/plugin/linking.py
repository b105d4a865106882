"""`tabhub plugin link`, and removing what was linked: plugins in folders of the person's own."""

from pathlib import Path

from tabhub.cli import running
from tabhub.cli.output import harmless
from tabhub.cli.plugin.plugin_list import plugins_of
from tabhub.config import keys, settings
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, NotFound
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
    command = f"tabhub plugin review {package.name}"
    print(harmless(f"Linked: {package.name}, in {path}. It runs once you have reviewed it:"))
    print(f"    {command}")


def _linked(home: Home, path: Path) -> Package:
    """The plugin at a path; an error that says why there is none."""
    plugins = plugins_of(home)
    for package in plugins.all().values():
        if path in (package.folder, *(package.folder / name for name in package.digests)):
            return package
    for failed in plugins.failed:
        if failed.folder == path:
            raise InvalidArguments(f"{failed.message} Nothing was done.")
    raise InvalidArguments(f"There is no plugin in {path}. Nothing was done.")


def unlink(home: Home, package: Package) -> None:
    """Take a plugin out of `localPlugins`; its folder stays."""
    known = settings.load(home).local_plugins
    places = {package.folder, *(package.folder / name for name in package.digests)}
    left = [name for name in known if Path(name).expanduser() not in places]
    if left == known:
        raise NotFound(
            f"{package.name} is in a folder of localPluginDirs: {package.folder}. Move it "
            "elsewhere, or take the folder out: tabhub config get localPluginDirs"
        )
    keys.set_value(home, ("localPlugins",), left)
