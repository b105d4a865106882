"""What a plugin's class says about itself, as data: names, texts, settings and schemas.

Schemas come from the hints of the methods, texts from docstrings. What cannot be described is an
error that names the class, the method and the parameter.
"""

import inspect
import re
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from tabhub.sdk.plugin_class import TOOL, Plugin, SettingField, ToolOptions, Url, words_of
from tabhub.sdk.plugin_errors import InvalidPlugin

Json = dict[str, Any]
SettingKind = Literal["url", "string", "number", "boolean", "select"]

_TOOL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_ARGUMENT = re.compile(r"(\w+)(?:\s*\([^)]*\))?:\s+(.+)")
_SECTION = re.compile(r"[A-Z]\w*:")
_KINDS: dict[Any, SettingKind] = {
    Url: "url",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
}


class ToolDescription(Struct, frozen=True):
    """One tool."""

    name: str
    title: str
    description: str
    input_schema: Json
    read_only: bool
    destructive: bool
    seconds: float | None = None


class SettingDescription(Struct, frozen=True):
    """One setting."""

    type: SettingKind
    label: str
    description: str = ""
    required: bool = False
    default: Any = None
    options: tuple[str, ...] = ()
    whole: bool = False
    """Of a number: whether it has no fraction."""


class Description(Struct, frozen=True):
    """A plugin; it can be written as JSON."""

    name: str
    title: str
    version: str
    description: str
    match: tuple[str, ...]
    exclude: tuple[str, ...]
    hosts: tuple[str, ...]
    homepage: str
    cookies: bool
    scripts: tuple[str, ...]
    settings: dict[str, SettingDescription]
    tools: tuple[ToolDescription, ...]
    checks_ready: bool
    """Whether the class has a `ready` of its own."""


class ToolMethod(NamedTuple):
    """A tool's method: what it takes beside the page, and how it is described."""

    function: Any
    options: ToolOptions
    arguments: type[Struct]
    description: ToolDescription


class PluginDefinition(NamedTuple):
    """What was read from a class."""

    settings: dict[str, SettingDescription]
    setting_types: dict[str, Any]
    tools: dict[str, ToolMethod]


_definitions: WeakKeyDictionary[type[Plugin], PluginDefinition] = WeakKeyDictionary()


def definition_of(plugin: type[Plugin]) -> PluginDefinition:
    """The settings and tools of a class, which is read once; InvalidPlugin if it has a fault."""
    known = _definitions.get(plugin)
    if known is None:
        known = PluginDefinition(*_settings(plugin), _tools(plugin))
        _definitions[plugin] = known
    return known


def describe(plugin: type[Plugin]) -> Description:
    """The description of a plugin; InvalidPlugin if it has a fault."""
    settings, _, tools = definition_of(plugin)
    _check_pages(plugin, settings)
    if not tools:
        raise InvalidPlugin(f"{plugin.__name__} has no tools: mark a method with @tool.")
    return Description(
        name=plugin.name or "-".join(words_of(plugin.__name__)).lower(),
        title=plugin.title or " ".join(words_of(plugin.__name__)),
        version=plugin.version,
        description=_paragraph(vars(plugin).get("__doc__") or ""),
        match=_texts(plugin, "match"),
        exclude=_texts(plugin, "exclude"),
        hosts=_texts(plugin, "hosts"),
        homepage=plugin.homepage,
        cookies=plugin.cookies,
        scripts=_texts(plugin, "scripts"),
        settings=settings,
        tools=tuple(method.description for method in tools.values()),
        checks_ready=plugin.ready is not Plugin.ready,
    )


def _check_pages(plugin: type[Plugin], settings: Mapping[str, SettingDescription]) -> None:
    names_a_site = any(it.type == "url" and it.required for it in settings.values())
    if not plugin.match and not names_a_site:
        raise InvalidPlugin(
            f"{plugin.__name__} is for no pages: give it `match` or a required setting of type Url."
        )


def _texts(plugin: type[Plugin], name: str) -> tuple[str, ...]:
    given = getattr(plugin, name)
    if isinstance(given, str) or not all(isinstance(text, str) for text in given):
        raise InvalidPlugin(f"{plugin.__name__}.{name} must be a list of texts.")
    return tuple(given)


def _settings(plugin: type[Plugin]) -> tuple[dict[str, SettingDescription], dict[str, Any]]:
    """The settings by their names, and the types of their values."""
    fields = {
        name: value
        for base in reversed(plugin.__mro__)
        for name, value in vars(base).items()
        if isinstance(value, SettingField)
    }
    hints = _hints(plugin, plugin.__name__) if fields else {}
    types = {name: _without_none(hints.get(name)) for name in fields}
    return {name: _setting(plugin, fields[name], types[name]) for name in fields}, types


def _setting(plugin: type[Plugin], field: SettingField, hint: Any) -> SettingDescription:
    place = f"{plugin.__name__}.{field.name}"
    if hasattr(Plugin, field.name):
        raise InvalidPlugin(f"{place} is no name of a setting: every plugin has a {field.name}.")
    options = get_args(hint) if get_origin(hint) is Literal else ()
    kind = "select" if options else _KINDS.get(hint)
    if kind is None or not all(isinstance(option, str) for option in options):
        raise InvalidPlugin(
            f"{place} has the type {_shown(hint)}: "
            "use Url, str, int, float, bool or Literal of texts."
        )
    if field.default is not None:
        _check_default(field.default, hint, place)
    return SettingDescription(
        type=kind,
        label=field.label,
        description=field.description,
        required=field.required,
        default=field.default,
        options=options,
        whole=hint is int,
    )


def _tools(plugin: type[Plugin]) -> dict[str, ToolMethod]:
    """The methods that are tools by the tools' names, those of base classes first."""
    names = dict.fromkeys(name for base in reversed(plugin.__mro__) for name in vars(base))
    found: dict[str, ToolMethod] = {}
    for name in names:
        function = getattr(plugin, name)
        options = getattr(function, TOOL, None)
        if isinstance(options, ToolOptions):
            method = _method(plugin, function, options)
            if method.description.name in found:
                raise InvalidPlugin(f"{plugin.__name__} has two tools {method.description.name}.")
            found[method.description.name] = method
    return found


def _method(plugin: type[Plugin], function: Any, options: ToolOptions) -> ToolMethod:
    place = f"{plugin.__name__}.{function.__name__}"
    name = options.name or function.__name__
    if not _TOOL_NAME.fullmatch(name):
        raise InvalidPlugin(f"{place}: {name!r} is no name of a tool: use A-Z, a-z, 0-9, _ and -.")
    parameters = _parameters(function, place)
    arguments = _arguments(function, parameters, place)
    text, texts = _texts_of(function)
    described = ToolDescription(
        name=name,
        title=options.title or " ".join(words_of(name)).capitalize(),
        description=text,
        input_schema=_schema(arguments, parameters, texts, place),
        read_only=options.read_only,
        destructive=options.destructive,
        seconds=options.seconds,
    )
    return ToolMethod(function, options, arguments, described)


def _parameters(function: Any, place: str) -> list[inspect.Parameter]:
    """What a method takes beside `self` and the page."""
    found = list(inspect.signature(function).parameters.values())
    if len(found) < 2 or found[1].kind in (found[1].KEYWORD_ONLY, found[1].VAR_KEYWORD):
        raise InvalidPlugin(f"{place} does not take a page: write (self, page: Page, …).")
    for parameter in found[2:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise InvalidPlugin(f"{place}: {parameter} is no parameter with a name and a type.")
    return found[2:]


def _arguments(function: Any, parameters: list[inspect.Parameter], place: str) -> type[Struct]:
    """A type for the arguments, so that msgspec can check them and write their schema."""
    hints = _hints(function, place)
    fields: list[Any] = []
    for parameter in parameters:
        name = parameter.name
        if name not in hints:
            raise InvalidPlugin(f"{place}: the parameter {name} has no type.")
        _check_hint(hints[name], f"{place}: the parameter {name}")
        if parameter.default is parameter.empty:
            fields.append((name, hints[name]))
        else:
            _check_default(parameter.default, hints[name], f"{place}: the parameter {name}")
            fields.append((name, hints[name], msgspec.field(default_factory=_absent)))
    return msgspec.defstruct(
        function.__name__, fields, kw_only=True, forbid_unknown_fields=True, module=__name__
    )


def _absent() -> None:
    """The value of an argument that was not given; the method's own default takes its place."""


def _hints(annotated: Any, place: str) -> dict[str, Any]:
    try:
        return get_type_hints(annotated, include_extras=True)
    except Exception as error:
        raise InvalidPlugin(f"{place} has a type that cannot be found: {error}.") from error


def _check_hint(hint: Any, place: str) -> None:
    try:
        msgspec.json.schema_components((hint,))
    except Exception as error:
        raise InvalidPlugin(
            f"{place} has the type {_shown(hint)}, which no schema can describe: {error}"
        ) from error


def _check_default(default: Any, hint: Any, place: str) -> None:
    try:
        msgspec.convert(_plain(default), hint, str_keys=True)
    except (TypeError, ValueError) as error:
        raise InvalidPlugin(
            f"{place} has the default {default!r}, which does not fit its type: {error}"
        ) from error


def _schema(
    arguments: type[Struct],
    parameters: list[inspect.Parameter],
    texts: Mapping[str, str],
    place: str,
) -> Json:
    """The schema of an object, whose parts with a name are under `$defs`."""
    (root,), parts = msgspec.json.schema_components((arguments,), ref_template="#/$defs/{name}")
    schema = parts.pop(root["$ref"].removeprefix("#/$defs/"))
    properties: Json = schema["properties"]
    for parameter in parameters:
        part = properties[parameter.name]
        if parameter.default is not parameter.empty:
            part["default"] = _plain(parameter.default)
        if parameter.name in texts:
            part.setdefault("description", texts[parameter.name])
    unknown = texts.keys() - properties.keys()
    if unknown:
        raise InvalidPlugin(f"{place} describes {sorted(unknown)[0]}, which is no parameter.")
    written = {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
        "$defs": parts,
    }
    return {
        key: value for key, value in written.items() if value not in ([], {}) or key == "properties"
    }


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value, str_keys=True)


def _texts_of(function: Any) -> tuple[str, dict[str, str]]:
    """The first paragraph of the docstring, and the texts of parameters under `Args:`."""
    written = inspect.cleandoc(function.__doc__ or "")
    texts: dict[str, str] = {}
    name, in_arguments = "", False
    for line in written.splitlines():
        if not line.startswith(" "):
            in_arguments = line == "Args:" or (in_arguments and not line)
        elif in_arguments and (found := _ARGUMENT.fullmatch(line.strip())) and _indent(line) <= 4:
            name = found[1]
            texts[name] = found[2]
        elif in_arguments and name:
            texts[name] += f" {line.strip()}"
    return _paragraph(written), texts


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _paragraph(docstring: str) -> str:
    """The first paragraph, in one line."""
    lines = inspect.cleandoc(docstring).split("\n\n")[0]
    return " ".join(lines.split())


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        others = [part for part in get_args(hint) if part is not NoneType]
        return others[0] if len(others) == 1 else hint
    return hint


def _shown(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
