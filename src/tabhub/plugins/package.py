"""A plugin: the record of what was read, the rules for it, and reading a package of OpenTabs.

Such a package has package.json, dist/tools.json, dist/adapter.iife.js and perhaps a pre-script; a
plugin in Python is read in `python/`. Everything in it was written by someone else. Reading it runs
nothing, each file is read once, and the digests are those of the bytes that were read.
"""

import os
import re
import stat
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal, NoReturn

import msgspec
from msgspec import Raw, Struct

from tabhub.errors import InvalidArguments, NotFound, ProtocolError
from tabhub.hub.schema_size import Unfit
from tabhub.hub.texts import one_line, readable
from tabhub.plugins.tool_schemas import input_schema, output_schema
from tabhub.plugins.url_patterns import parse_pattern
from tabhub.sdk.descriptions import SettingDescription, SettingKind

Kind = Literal["installed", "local", "environment"]
"""In tabhub's own folder, in a folder that the settings name, or in the server's environment."""
SettingType = SettingKind
Setting = SettingDescription
"""One entry of configSchema, or one setting of a plugin in Python."""
Json = dict[str, Any]

MOST_BYTES = 5 * 1024 * 1024
"""Of the adapter, the pre-script and tools.json, each."""
PACKAGE_BYTES = 256 * 1024
MOST_TOOLS = 500
LONGEST_DESCRIPTION = 1000
MOST_PATTERNS = 100
MOST_SETTINGS = 50
MOST_OPTIONS = 100
LONGEST_NAME = 64
LONGEST_ADDRESS = 2000
LONGEST_ICON = 64 * 1024
"""A longer icon is left out."""

RESERVED = frozenset(
    {
        *("system", "browser", "opentabs", "extension", "config", "plugin", "tool", "mcp"),
        *("website", "tabhub", "tab"),
    }
)
"""Names that no plugin may have: those of OpenTabs, and ours."""
OFFICIAL_SCOPE = "opentabs-dev"
PREFIXES = ("opentabs-plugin-", "tabhub-plugin-")
ADAPTER = "adapter.iife.js"
PRE_SCRIPT = "pre-script.iife.js"

_CAUTIOUSLY = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
_PACKAGE_NAME = re.compile(r"(?:@([a-z0-9][a-z0-9._-]*)/)?([a-z0-9][a-z0-9._-]*)")
_PLUGIN_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,63}")
TOOL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
SETTING_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
SCRIPT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.js")


Digests = dict[str, str]
"""SHA-256 in hex of a plugin's files, by their names in its folder, in the order of reading."""


class PluginTool(Struct, frozen=True):
    """One tool of a plugin."""

    name: str
    """As in tools.json."""
    title: str
    description: str
    input_schema: bytes
    """In it, required properties with a default are optional."""
    defaults: Json
    """Filled in before the page gets the arguments."""
    output_schema: bytes | None = None
    """Shown, never listed: clients would refuse results that adapters do not hold to it."""
    icon: str = ""
    read_only: bool = False
    """What its author says; only plugins in Python say it."""
    destructive: bool = False
    seconds: float | None = None
    """A time limit of its own."""


class PythonCode(Struct, frozen=True):
    """What only a plugin in Python has."""

    main: str
    """The file of its class."""
    class_name: str
    prefix: str
    """The package that its folder is, such as `acme.notes`; empty if its modules have no parent."""
    hosts: tuple[str, ...]
    """Patterns that its requests may go to, beside the pages that it is for."""
    cookies: bool
    scripts: tuple[str, ...]
    checks_ready: bool
    """Whether it has a `ready` of its own."""
    is_described: bool = False
    """Whether its process has told the schemas of its tools; before that, none is listed."""


class Package(Struct, frozen=True):
    """A plugin that was read, and can be reviewed."""

    name: str
    """The plugin's name; that of a package of OpenTabs is derived from the package's."""
    package: str
    version: str
    folder: Path
    """Where its files are; a plugin of one file has a folder with others."""
    kind: Kind
    title: str
    description: str
    url_patterns: tuple[str, ...]
    exclude_patterns: tuple[str, ...]
    homepage: str
    settings: dict[str, Setting]
    tools: tuple[PluginTool, ...]
    digests: Digests
    adapter: Path | None = None
    """Its code for pages; a plugin in Python has none."""
    pre_script: Path | None = None
    sdk_version: str = ""
    icon_svg: str = ""
    """A picture by the plugin's author: markup to show as an image, never to insert."""
    python: PythonCode | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all is known that its tools need to be listed."""
        return self.python is None or self.python.is_described

    def digest_of(self, file: Path | None) -> str | None:
        """The digest of one of its files."""
        return None if file is None else self.digests[file.relative_to(self.folder).as_posix()]


class WrittenSetting(Struct):
    """A setting as its author writes it."""

    type: SettingType
    label: str
    description: str = ""
    required: bool = False
    default: Any = None
    options: list[str] = []
    whole: ClassVar[bool] = False


class WholeNumberSetting(WrittenSetting):
    """A number without a fraction. A configSchema cannot say so, only a hint in Python can."""

    whole: ClassVar[bool] = True


class _Description(Struct, rename="camel"):
    """The member `opentabs` of package.json."""

    display_name: str
    description: str
    url_patterns: list[str]
    exclude_patterns: list[str] = []
    homepage: str | None = None
    config_schema: dict[str, WrittenSetting] | None = None
    pre_script: str | None = None


class _PackageJson(Struct):
    name: str
    version: str
    opentabs: _Description


class _WrittenTool(Struct):
    name: str
    description: str
    input_schema: Raw
    display_name: str = msgspec.field(default="", name="displayName")
    icon: str = ""
    output_schema: Raw = Raw(b"null")


class _ToolsJson(Struct, rename="camel"):
    tools: list[_WrittenTool]
    sdk_version: str | None = None
    config_schema: dict[str, WrittenSetting] | None = None
    pre_script_file: str | None = None
    icon_svg: str = ""


def read_package(folder: Path, kind: Kind) -> Package:
    """Read a package; an error with the reason if it cannot be used."""
    dist = folder / "dist"
    written = read_file(folder / "package.json", PACKAGE_BYTES)
    listed = read_file(dist / "tools.json", MOST_BYTES)
    package, tools = _package_json(written), _tools_json(listed)
    about = package.opentabs
    adapter = dist / ADAPTER
    pre_script = _pre_script(dist, tools, about)
    settings = checked_settings(tools.config_schema or about.config_schema or {})
    return Package(
        name=plugin_name(package.name),
        package=package.name,
        version=checked_version(package.version),
        folder=folder,
        kind=kind,
        title=checked_title(about.display_name, "displayName"),
        description=checked_description(about.description, "opentabs.description"),
        url_patterns=checked_url_patterns(about.url_patterns, settings),
        exclude_patterns=checked_patterns(about.exclude_patterns, "excludePatterns"),
        homepage=checked_homepage(about.homepage or ""),
        settings=settings,
        tools=_tools(tools.tools),
        digests={
            "package.json": digest(written),
            "dist/tools.json": digest(listed),
            **(
                {f"dist/{pre_script.name}": digest(checked_script(pre_script))}
                if pre_script
                else {}
            ),
            f"dist/{ADAPTER}": digest(checked_script(adapter)),
        },
        adapter=adapter,
        pre_script=pre_script,
        sdk_version=one_line(tools.sdk_version or "", 64),
        icon_svg=tools.icon_svg if len(tools.icon_svg) <= LONGEST_ICON else "",
    )


def plugin_name(package: str) -> str:
    """The name of the plugin in a package: its scope, unless it is OpenTabs' own, and its name."""
    found = _PACKAGE_NAME.fullmatch(package) if len(package) <= 214 else None
    if found is None:
        refuse(f"{shown(package)} is no package name")
    scope, base = found.groups()
    name = next((base.removeprefix(p) for p in PREFIXES if base.startswith(p)), "")
    if not name:
        refuse(f"{package} is no name of a plugin, such as opentabs-plugin-x")
    if scope is not None and scope != OFFICIAL_SCOPE:
        name = f"{scope}-{name}"
    return checked_name(name, package)


def checked_name(name: str, package: str) -> str:
    """The name, if a plugin may have it."""
    if len(name) > LONGEST_NAME or not _PLUGIN_NAME.fullmatch(name):
        refuse(f"the plugin of {package} would be called {shown(name)}: use a-z, 0-9 and -")
    if name in RESERVED:
        refuse(f"the name {name} is reserved")
    return name


def refuse(reason: str) -> NoReturn:
    raise InvalidArguments(f"This plugin is not loaded: {reason}.")


def shown(text: str) -> str:
    return repr(one_line(text, 80))


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def read_file(path: Path, most: int, *, may_be_empty: bool = False) -> bytes:
    """The content of a regular file; nothing that could block or never end is read.

    Links are not followed: agents read plugins before their review, and a link could show them any
    file of the person.
    """
    name = f"dist/{path.name}" if path.parent.name == "dist" else path.name
    if path.is_symlink() or (path.parent.name == "dist" and path.parent.is_symlink()):
        refuse(f"{name} is a link, and a plugin's files must be its own")
    try:
        handle = os.open(path, os.O_RDONLY | _CAUTIOUSLY)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"This plugin is not loaded: there is no {name} in its folder.") from None
    except OSError as error:
        refuse(f"{name} cannot be read ({error.strerror})")
    try:
        data = _content(handle, name, most)
    finally:
        os.close(handle)
    if not data and not may_be_empty:
        refuse(f"{name} is empty")
    return data


def _content(handle: int, name: str, most: int) -> bytes:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        refuse(f"{name} is not a file")
    with open(handle, "rb", closefd=False) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ProtocolError(
            f"This plugin is not loaded: {name} has more than {most} bytes.", "too_large"
        )
    return data


def checked_script(path: Path) -> bytes:
    """The content of a script; a browser loads only UTF-8."""
    data = read_file(path, MOST_BYTES)
    try:
        data.decode()
    except UnicodeDecodeError:
        refuse(f"dist/{path.name} is not text in UTF-8")
    return data


def _package_json(data: bytes) -> _PackageJson:
    try:
        return msgspec.json.decode(data, type=_PackageJson)
    except (ValueError, RecursionError) as error:
        refuse(f"package.json: {_fault(error)}")


def _tools_json(data: bytes) -> _ToolsJson:
    """The file as it is now, or the bare list that older versions wrote."""
    try:
        if data.lstrip().startswith(b"["):
            return _ToolsJson(msgspec.json.decode(data, type=list[_WrittenTool]))
        return msgspec.json.decode(data, type=_ToolsJson)
    except (ValueError, RecursionError) as error:
        refuse(f"dist/tools.json: {_fault(error)}")


def _fault(error: Exception) -> str:
    return one_line(str(error), 200).rstrip(".") or "it is nested too deeply"


def checked_version(version: str) -> str:
    if not _VERSION.fullmatch(version):
        refuse(f"{shown(version)} is no version")
    return version


def checked_title(text: str, what: str) -> str:
    title = one_line(text)
    if not title:
        refuse(f"{what} is empty")
    return title


def checked_description(text: str, what: str) -> str:
    if not 0 < len(text) <= LONGEST_DESCRIPTION:
        refuse(f"{what} must have 1 to {LONGEST_DESCRIPTION} characters")
    return readable(text, LONGEST_DESCRIPTION)


def checked_homepage(address: str) -> str:
    fits = len(address) <= LONGEST_ADDRESS and address.isprintable()
    if address and not (fits and re.match(r"https?://[^/\s@]+(?:/|$)", address)):
        refuse(f"homepage must be an http or https address, not {shown(address)}")
    return address


def checked_url_patterns(
    patterns: Iterable[str], settings: Mapping[str, Setting], what: str = "urlPatterns"
) -> tuple[str, ...]:
    found = checked_patterns(patterns, what)
    asks = any(setting.type == "url" and setting.required for setting in settings.values())
    if not found and not asks:
        refuse(f"{what} is empty, and no required setting of type url names the site")
    return found


def checked_patterns(patterns: Iterable[str], what: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(patterns))
    if len(found) > MOST_PATTERNS:
        refuse(f"{what} has more than {MOST_PATTERNS} entries")
    try:
        for pattern in found:
            parse_pattern(pattern)
    except ValueError as error:
        refuse(f"{what}: {error}")
    return found


def _pre_script(dist: Path, tools: _ToolsJson, about: _Description) -> Path | None:
    name = tools.pre_script_file or (PRE_SCRIPT if about.pre_script else None)
    if name is None:
        return None
    if not SCRIPT_NAME.fullmatch(name):
        refuse(f"preScriptFile must be a .js file in dist, not {shown(name)}")
    return dist / name


def checked_settings(schema: Mapping[str, WrittenSetting]) -> dict[str, Setting]:
    if len(schema) > MOST_SETTINGS:
        refuse(f"configSchema has more than {MOST_SETTINGS} settings")
    return {name: _setting(name, setting) for name, setting in schema.items()}


def _setting(name: str, given: WrittenSetting) -> Setting:
    if not SETTING_NAME.fullmatch(name):
        refuse(f"configSchema: {shown(name)} is no name of a setting")
    options = tuple(dict.fromkeys(one_line(option) for option in given.options))
    if (given.type == "select") != bool(options) or len(options) > MOST_OPTIONS:
        refuse(f"configSchema: {name} needs 1 to {MOST_OPTIONS} options if its type is select")
    if given.default is not None and not fits_setting(given.type, given.default, options):
        refuse(f"configSchema: the default of {name} does not fit its type {given.type}")
    return Setting(
        type=given.type,
        label=checked_title(given.label, f"configSchema: the label of {name}"),
        description=readable(given.description, LONGEST_DESCRIPTION),
        required=given.required,
        default=given.default,
        options=options,
        whole=given.whole,
    )


def fits_setting(kind: SettingType, value: object, options: tuple[str, ...]) -> bool:
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "url" and isinstance(value, dict):
        return all(isinstance(url, str) for url in value.values())
    return isinstance(value, str) and (kind != "select" or value in options)


def _tools(given: list[_WrittenTool]) -> tuple[PluginTool, ...]:
    if not 0 < len(given) <= MOST_TOOLS:
        refuse(f"dist/tools.json must have 1 to {MOST_TOOLS} tools")
    tools: dict[str, PluginTool] = {}
    for tool in given:
        if not TOOL_NAME.fullmatch(tool.name):
            refuse(f"{shown(tool.name)} is no name of a tool: use A-Z, a-z, 0-9, _ and -")
        if tool.name in tools:
            refuse(f"two tools are called {tool.name}")
        tools[tool.name] = _tool(tool)
    return tuple(tools.values())


def _tool(given: _WrittenTool) -> PluginTool:
    try:
        schema, defaults = input_schema(given.input_schema)
        output = output_schema(given.output_schema)
    except Unfit as unfit:
        refuse(f"the tool {given.name}: {unfit}")
    return PluginTool(
        name=given.name,
        title=one_line(given.display_name) or given.name,
        description=checked_description(
            given.description, f"the description of the tool {given.name}"
        ),
        input_schema=schema,
        defaults=defaults,
        output_schema=output,
        icon=one_line(given.icon, LONGEST_NAME),
    )
