"""`tabhub plugin create`: writes a new plugin that works, from the templates beside this file."""

from pathlib import Path
from typing import Literal, NamedTuple

from tabhub.cli import running
from tabhub.cli.own_program import command_text, program_text
from tabhub.cli.plugin.plugin_list import plugins_of
from tabhub.config import keys, settings
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments
from tabhub.hub.texts import one_line
from tabhub.plugins.package import RESERVED, plugin_name
from tabhub.plugins.url_patterns import parse_pattern
from tabhub.system.processes import as_typed

TEMPLATES = Path(__file__).parent / "templates"
Form = Literal["python", "js"]
LOCAL = ("localhost", "127.", "[::1]")
FIRST_TOOL = "get_page"
TESTS: dict[Form, str] = {
    "python": "{tabhub} plugin test {folder}",
    "js": "cd {folder} && node --test",
}


class NewPlugin(NamedTuple):
    """What a new plugin is called, for which pages it is, and where it is written."""

    name: str
    domain: str
    form: Form
    folder: Path

    @property
    def pattern(self) -> str:
        scheme = "*" if self.domain.startswith(LOCAL) else "https"
        return f"{scheme}://{self.domain}/*"

    @property
    def homepage(self) -> str:
        scheme = "http" if self.domain.startswith(LOCAL) else "https"
        return f"{scheme}://{self.domain.removeprefix('*.')}/"

    def words(self) -> dict[str, str]:
        """What stands in the templates, and what takes its place."""
        parts = self.name.split("-")
        capitals = [part.capitalize() for part in parts]
        return {
            "https://home.scaffold.example/": self.homepage,
            "https://scaffold.example/*": self.pattern,
            "scaffold.example": self.domain.removeprefix("*."),
            "scaffold-name": self.name,
            "scaffold_name": "_".join(parts),
            "ScaffoldName": f"{'Plugin' if parts[0][0].isdigit() else ''}{''.join(capitals)}",
            "Scaffold Title": " ".join(capitals),
        }


def create(name: str, domain: str, form: Form, folder: Path | None, link: bool) -> None:
    home = Home.from_environment()
    plugin = NewPlugin(name, domain.lower(), form, (folder or Path(name)).absolute())
    _check(home, plugin)
    written = write(plugin)
    if link:
        _link(home, plugin.folder)
    print(f"Created the plugin {name} in {plugin.folder}:")
    print("".join(f"  {path.relative_to(plugin.folder)}\n" for path in written))
    print("Next:")
    for command in _next_commands(plugin, link):
        print(f"  {command}")
    unless = command_text("plugin", "review", name, "--level", "auto")
    print(f"Calls ask in the side panel first, unless: {unless}")


def write(plugin: NewPlugin) -> list[Path]:
    """Write the files of a plugin into its folder, which must not exist yet."""
    try:
        plugin.folder.mkdir(parents=True)
        return [_write(path, plugin) for path in _templates(plugin.form)]
    except FileExistsError:
        raise InvalidArguments(f"{plugin.folder} exists already. Nothing was done.") from None
    except OSError as error:
        raise InvalidArguments(f"{plugin.folder} cannot be written: {error.strerror}.") from None


def _check(home: Home, plugin: NewPlugin) -> None:
    _check_name(plugin.name)
    known = plugins_of(home).all().get(plugin.name)
    if known is not None:
        raise InvalidArguments(
            f"There is a plugin called {plugin.name} already, in {known.folder}. Nothing was done."
        )
    if not _is_domain(plugin):
        raise InvalidArguments(
            f"{plugin.domain[:100]!r} is not a domain such as example.com, *.example.com or "
            "localhost:8000. Nothing was done."
        )


def _is_domain(plugin: NewPlugin) -> bool:
    try:
        parse_pattern(plugin.pattern)
    except ValueError:
        return False
    return "/" not in plugin.domain


def _check_name(name: str) -> None:
    try:
        plugin_name(f"tabhub-plugin-{name}")
    except InvalidArguments:
        raise InvalidArguments(
            f"{one_line(name, 80)!r} cannot be the name of a plugin: use a-z, 0-9 and -, and none "
            f"of {', '.join(sorted(RESERVED))}. Nothing was done."
        ) from None


def _templates(form: Form) -> list[Path]:
    found = (TEMPLATES / form).rglob("*")
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def _write(template: Path, plugin: NewPlugin) -> Path:
    text = template.read_text("utf-8")
    for word, replacement in plugin.words().items():
        text = text.replace(word, replacement)
    path = plugin.folder / template.relative_to(TEMPLATES / plugin.form)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def _link(home: Home, folder: Path) -> None:
    """Add the folder to those of plugins that the person works on."""
    linked = [*settings.load(home).local_plugins, str(folder)]
    keys.set_value(home, ("localPlugins",), linked)
    running.reload(home)


def _next_commands(plugin: NewPlugin, is_linked: bool) -> list[str]:
    folder = str(plugin.folder)
    test = TESTS[plugin.form].format(tabhub=program_text(), folder=as_typed([folder]))
    link = command_text("plugin", "link", folder)
    start = command_text("start", "--dev", "--browser")
    open_tab = command_text("tool", "call", "browser_open_tab", f"url={plugin.homepage}")
    call = command_text("tool", "call", f"{plugin.name}_{FIRST_TOOL}")
    return [*([] if is_linked else [link]), test, start, open_tab, call]
