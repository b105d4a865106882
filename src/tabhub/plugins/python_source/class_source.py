"""What the source of a plugin's class says: patterns, texts, settings and tools, read by `ast`.

Nothing of it runs, so what counts has to be written as literals. The process of the plugin says
the same later, with the schemas of its tools; if it says anything else, the plugin is refused.
"""

import ast
import warnings
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from typing import Any, NamedTuple, TypeVar

import msgspec

from tabhub.plugins.package import (
    MOST_TOOLS,
    SCRIPT_NAME,
    TOOL_NAME,
    Kind,
    Package,
    PluginTool,
    PythonCode,
    SettingType,
    WholeNumberSetting,
    WrittenSetting,
    checked_description,
    checked_homepage,
    checked_name,
    checked_patterns,
    checked_script,
    checked_settings,
    checked_title,
    checked_url_patterns,
    checked_version,
    digest,
    refuse,
    shown,
)
from tabhub.plugins.python_source.source_files import Location, read_modules
from tabhub.sdk.plugin_class import Plugin, ToolOptions, words_of

T = TypeVar("T")
SDK = "tabhub.sdk"
MOST_SCRIPTS = 20
LONGEST_SECONDS = 300
"""Of a time limit that a tool may set for its calls."""
_TYPES: dict[str, SettingType] = {
    f"{SDK}.Url": "url",
    "str": "string",
    "int": "number",
    "float": "number",
    "bool": "boolean",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Attributes(msgspec.Struct):
    """The attributes of the class that count."""

    match: list[str] = []
    exclude: list[str] = []
    hosts: list[str] = []
    name: str = Plugin.name
    title: str = Plugin.title
    version: str = Plugin.version
    homepage: str = Plugin.homepage
    cookies: bool = Plugin.cookies
    scripts: list[str] = []


class _ToolArguments(msgspec.Struct, forbid_unknown_fields=True):
    """What `@tool(…)` may say."""

    name: str = ""
    title: str = ""
    read_only: bool = False
    destructive: bool = True
    seconds: float | None = None


class _SettingArguments(msgspec.Struct, forbid_unknown_fields=True):
    """What `setting(…)` may say."""

    label: str
    description: str = ""
    default: Any = None
    required: bool = False


class _MarkedMethod(NamedTuple):
    method: str
    options: ToolOptions
    description: str


def read_python(location: Location, package: str, kind: Kind) -> Package:
    """Read a plugin; an error with the reason if it cannot be used."""
    sources = read_modules(location)
    source = _ClassSource(sources[location.main], location)
    given = source.attributes()
    settings = checked_settings(source.settings())
    name = given.name or "-".join(words_of(source.name)).lower()
    scripts = _scripts(location, given.scripts)
    return Package(
        name=checked_name(name, location.main),
        package=package,
        version=checked_version(given.version),
        folder=location.folder,
        kind=kind,
        title=checked_title(given.title or " ".join(words_of(source.name)), "title"),
        description=checked_description(source.description, f"the docstring of {source.name}"),
        url_patterns=checked_url_patterns(given.match, settings, "match"),
        exclude_patterns=checked_patterns(given.exclude, "exclude"),
        homepage=checked_homepage(given.homepage),
        settings=settings,
        tools=_tools(source),
        digests={name: digest(data) for name, data in {**sources, **scripts}.items()},
        python=PythonCode(
            main=location.main,
            class_name=source.name,
            prefix=location.prefix,
            hosts=checked_patterns(given.hosts, "hosts"),
            cookies=given.cookies,
            scripts=tuple(scripts),
            checks_ready=True,
        ),
    )


def _scripts(location: Location, names: list[str]) -> dict[str, bytes]:
    if len(names) > MOST_SCRIPTS:
        refuse(f"scripts has more than {MOST_SCRIPTS} entries")
    for name in names:
        if not SCRIPT_NAME.fullmatch(name):
            refuse(f"scripts must name .js files beside {location.main}, not {shown(name)}")
    return {name: checked_script(location.folder / name) for name in names}


def _tools(source: "_ClassSource") -> tuple[PluginTool, ...]:
    tools: dict[str, PluginTool] = {}
    for found in source.tools():
        name = found.options.name or found.method
        if not TOOL_NAME.fullmatch(name):
            refuse(f"{shown(name)} is no name of a tool: use A-Z, a-z, 0-9, _ and -")
        if name in tools:
            refuse(f"two tools are called {name}")
        title = found.options.title or " ".join(words_of(name)).capitalize()
        tools[name] = PluginTool(
            name=name,
            title=checked_title(title, f"the title of the tool {name}"),
            description=checked_description(found.description, f"the docstring of {found.method}"),
            input_schema=b"",
            defaults={},
            read_only=found.options.read_only,
            destructive=found.options.destructive and not found.options.read_only,
            seconds=found.options.seconds,
        )
    if not 0 < len(tools) <= MOST_TOOLS:
        refuse(f"{source.name} must have 1 to {MOST_TOOLS} methods marked with @tool")
    return tuple(tools.values())


class _ClassSource:
    """The class of a plugin in the syntax tree of its file."""

    def __init__(self, source: bytes, location: Location) -> None:
        tree = _parsed(source, location.main)
        self._names = dict(_imports(tree))
        self._class = self._found(tree, location)
        self.name = self._class.name
        self.description = _paragraph(self._class)

    def _found(self, tree: ast.Module, location: Location) -> ast.ClassDef:
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        plugins = [node for node in classes if f"{SDK}.Plugin" in map(self._dotted, node.bases)]
        if location.class_name:
            plugins = [node for node in plugins if node.name == location.class_name]
        if not plugins:
            what = location.class_name or "no class"
            refuse(f"{what} in {location.main} derives from Plugin of {SDK}")
        if len(plugins) > 1:
            names = " and ".join(node.name for node in plugins[:2])
            refuse(f"{location.main} has several plugins, {names}: one file is one plugin")
        return plugins[0]

    def attributes(self) -> _Attributes:
        given = {
            name: _literal(value, name)
            for name, _, value in self._assignments()
            if name in _Attributes.__struct_fields__
        }
        try:
            return msgspec.convert(given, _Attributes)
        except msgspec.ValidationError as error:
            refuse(f"{self.name}: {error}")

    def settings(self) -> dict[str, WrittenSetting]:
        return {
            name: self._setting(name, hint, value)
            for name, hint, value in self._assignments()
            if isinstance(value, ast.Call) and self._dotted(value.func) == f"{SDK}.setting"
        }

    def tools(self) -> Iterator[_MarkedMethod]:
        for node in self._class.body:
            if not isinstance(node, Function):
                continue
            for mark in node.decorator_list:
                called = mark.func if isinstance(mark, ast.Call) else mark
                if self._dotted(called) == f"{SDK}.tool":
                    yield self._tool(node, mark)

    def _tool(self, node: Function, mark: ast.expr) -> _MarkedMethod:
        if isinstance(node, ast.FunctionDef):
            refuse(f"the tool {node.name} is no async method")
        arguments = _arguments(mark, (), f"@tool of {node.name}")
        given = _converted(arguments, _ToolArguments, f"@tool of {node.name}")
        if given.seconds is not None and not 0 < given.seconds <= LONGEST_SECONDS:
            refuse(
                f"@tool of {node.name}: seconds must be more than 0, and {LONGEST_SECONDS} at most"
            )
        options = ToolOptions(**msgspec.structs.asdict(given))
        return _MarkedMethod(node.name, options, _paragraph(node))

    def _assignments(self) -> Iterator[tuple[str, ast.expr | None, ast.expr]]:
        """The names that the class gives a value, with their hints."""
        seen: set[str] = set()
        for node in self._class.body:
            hint = node.annotation if isinstance(node, ast.AnnAssign) else None
            for target in _targets(node):
                value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
                if value is None:
                    continue
                if target in seen:
                    refuse(f"{self.name} sets {target} twice")
                seen.add(target)
                yield target, hint, value

    def _setting(self, name: str, hint: ast.expr | None, call: ast.expr) -> WrittenSetting:
        what = f"the setting {name}"
        given = _converted(_arguments(call, ("label",), what), _SettingArguments, what)
        kind, options = self._type(hint, name)
        form = WholeNumberSetting if self._is_whole(hint, name) else WrittenSetting
        return form(
            type=kind,
            label=given.label,
            description=given.description,
            required=given.required,
            default=given.default,
            options=options,
        )

    def _type(self, hint: ast.expr | None, name: str) -> tuple[SettingType, list[str]]:
        hint = self._value_hint(hint, name)
        if isinstance(hint, ast.Subscript) and self._dotted(hint.value) == "typing.Literal":
            chosen = _literal(hint.slice, f"the type of the setting {name}")
            return "select", [chosen] if isinstance(chosen, str) else list(chosen)
        kind = None if hint is None else _TYPES.get(self._dotted(hint))
        if kind is None:
            refuse(f"the setting {name} needs a type: Url, str, int, float, bool or Literal")
        return kind, []

    def _is_whole(self, hint: ast.expr | None, name: str) -> bool:
        found = self._value_hint(hint, name)
        return found is not None and self._dotted(found) == "int"

    def _value_hint(self, hint: ast.expr | None, name: str) -> ast.expr | None:
        """The hint of a setting that has a value, also where it is written as a text."""
        if isinstance(hint, ast.Constant) and isinstance(hint.value, str):
            hint = _expression(hint.value, name)
        return self._without_none(hint)

    def _without_none(self, hint: ast.expr | None) -> ast.expr | None:
        if isinstance(hint, ast.Subscript) and self._dotted(hint.value) == "typing.Optional":
            return hint.slice
        if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
            sides = [hint.left, hint.right]
            kept = [
                one for one in sides if not (isinstance(one, ast.Constant) and one.value is None)
            ]
            return kept[0] if len(kept) == 1 else hint
        return hint

    def _dotted(self, node: ast.expr) -> str:
        """The full name of what an expression means, as far as imports say."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self._dotted(node.value)}.{node.attr}"
        return ""


def _parsed(source: bytes, name: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        refuse(f"{name}, line {error.lineno or 0}: {error.msg}")
    except (ValueError, RecursionError, MemoryError):
        refuse(f"{name} cannot be read as Python")


def _expression(text: str, name: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        refuse(f"the type of the setting {name} cannot be read")


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.Import):
            for name in node.names:
                first = name.name.partition(".")[0]
                yield (name.asname, name.name) if name.asname else (first, first)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((n.asname or n.name, f"{node.module}.{n.name}") for n in node.names)


def _targets(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _arguments(call: ast.expr, positional: tuple[str, ...], what: str) -> dict[str, Any]:
    if not isinstance(call, ast.Call):
        return {}
    if len(call.args) > len(positional) or any(word.arg is None for word in call.keywords):
        refuse(f"{what} must have named arguments")
    given = dict(zip(positional, call.args, strict=False))
    given |= {word.arg: word.value for word in call.keywords if word.arg is not None}
    return {name: _literal(value, f"{name} in {what}") for name, value in given.items()}


def _converted(given: Mapping[str, Any], kind: type[T], what: str) -> T:
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        refuse(f"{what}: {error}")


def _literal(node: ast.expr, what: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        refuse(f"{what} is not literal, so it cannot be known without running the plugin")


def _paragraph(node: ast.ClassDef | Function) -> str:
    """The first paragraph of a docstring, in one line."""
    written = cleandoc(ast.get_docstring(node, clean=False) or "")
    return " ".join(written.split("\n\n")[0].split())
