"""What plugins have said about themselves in their processes, kept by the digests of their files.

The process adds the schemas of the tools. In everything else it has to say what the source says,
which the person has reviewed: if it does not, the plugin is refused.
"""

import logging
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from tabhub import __version__
from tabhub.config.files import write_private
from tabhub.errors import TabhubError
from tabhub.hub.schema_size import Unfit
from tabhub.hub.texts import one_line
from tabhub.plugins.package import LONGEST_DESCRIPTION, Package, PluginTool, refuse
from tabhub.plugins.tool_schemas import input_schema
from tabhub.sdk.descriptions import Description, SettingDescription, ToolDescription

log = logging.getLogger(__name__)

MOST_BYTES = 32 * 1024 * 1024
_FROM_PROCESS = ("checks_ready",)


class _Kept(Struct):
    key: str
    description: Raw


class Descriptions:
    """The descriptions by plugin, in private files; without a folder they are in memory."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, tuple[str, Package | TabhubError]] = {}

    def complete(self, package: Package) -> Package | TabhubError:
        """The plugin with its schemas, as far as they are known, or why it is refused."""
        if package.python is None:
            return package
        key = _key(package)
        known, found = self._known.get(package.name, ("", package))
        if known == key:
            return found
        kept = self._read(package.name)
        if kept is None or kept.key != key:
            return package
        return self._remember(package, kept.description)

    def put(self, package: Package, description: Raw) -> Package | TabhubError:
        """Keep what the process of a plugin has said."""
        found = self._remember(package, description)
        if self._folder is not None and isinstance(found, Package):
            kept = msgspec.json.encode(_Kept(_key(package), description))
            write_private(self._folder / f"{package.name}.json", kept)
        return found

    def refuse(self, package: Package, error: TabhubError) -> None:
        """Remember why a plugin could not be described."""
        self._known[package.name] = (_key(package), error.with_traceback(None))

    def forget_refusals(self) -> None:
        """Let refused plugins try again: what they depend on may be there now."""
        for name, (_, found) in list(self._known.items()):
            if isinstance(found, TabhubError):
                del self._known[name]

    def _remember(self, package: Package, description: Raw) -> Package | TabhubError:
        found: Package | TabhubError
        try:
            found = described(package, description)
        except TabhubError as error:
            found = error.with_traceback(None)
        self._known[package.name] = (_key(package), found)
        return found

    def _read(self, name: str) -> _Kept | None:
        if self._folder is None:
            return None
        try:
            return msgspec.json.decode((self._folder / f"{name}.json").read_bytes(), type=_Kept)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            log.warning("what the plugin %s said about itself cannot be read: %s", name, error)
            return None


def _key(package: Package) -> str:
    """Stands for the files of a plugin, and for the tabhub that made the schemas."""
    facts = (__version__, package.python, sorted(package.digests.items()))
    return sha256(msgspec.json.encode(facts)).hexdigest()


def described(package: Package, given: Raw) -> Package:
    """The plugin with the schemas of its tools; an error if it contradicts its source."""
    code = package.python
    if code is None or len(given) > MOST_BYTES:
        refuse("its description is too long")
    try:
        description = msgspec.json.decode(given, type=Description)
    except (ValueError, RecursionError):
        refuse("its description cannot be read")
    _require_same(package, description)
    tools = {tool.name: tool for tool in description.tools}
    return replace(
        package,
        tools=tuple(_with_schema(tool, tools[tool.name]) for tool in package.tools),
        python=replace(code, is_described=True, checks_ready=description.checks_ready),
    )


def _require_same(package: Package, said: Description) -> None:
    read = _from_source(package)
    for field in Description.__struct_fields__:
        if field in _FROM_PROCESS:
            continue
        if _plain(getattr(read, field)) != _plain(getattr(said, field)):
            refuse(f"its process says something else about its {field} than its source")


def _from_source(package: Package) -> Description:
    """What the process has to say, but for what only it knows."""
    code = package.python
    assert code is not None
    return Description(
        name=package.name,
        title=package.title,
        version=package.version,
        description=package.description,
        match=package.url_patterns,
        exclude=package.exclude_patterns,
        hosts=code.hosts,
        homepage=package.homepage,
        cookies=code.cookies,
        scripts=code.scripts,
        settings=package.settings,
        tools=tuple(_tool_from_source(tool) for tool in package.tools),
        checks_ready=code.checks_ready,
    )


def _tool_from_source(tool: PluginTool) -> ToolDescription:
    return ToolDescription(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema={},
        read_only=tool.read_only,
        destructive=tool.destructive,
        seconds=tool.seconds,
    )


def _plain(value: Any) -> Any:
    """A part of a description to compare: in no order, without schemas, each text in one line."""
    if isinstance(value, str):
        return one_line(value, LONGEST_DESCRIPTION)
    if isinstance(value, ToolDescription):
        return _plain(msgspec.structs.asdict(replace(value, input_schema={})))
    if isinstance(value, SettingDescription):
        return _plain(msgspec.structs.asdict(value))
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return sorted(map(repr, {repr(_plain(part)): None for part in value}))
    return value


def _with_schema(tool: PluginTool, said: ToolDescription) -> PluginTool:
    try:
        schema, defaults = input_schema(Raw(msgspec.json.encode(said.input_schema)))
    except Unfit as unfit:
        refuse(f"the tool {tool.name}: {unfit}")
    return replace(tool, input_schema=schema, defaults=defaults)
