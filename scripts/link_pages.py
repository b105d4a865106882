"""Generates the link's JSON Schema, the tables of commands in docs/link.md and TypeScript types."""

import ast
import inspect
import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import inspect as types

from tabhub.wire import link
from tabhub.wire.commands import COMMANDS, FAMILIES
from tabhub.wire.commands.command import Command, Shape
from tabhub.wire.methods import EXTENSION, PAGE, LinkMethod
from tabhub.wire.plugins import PluginTab

METHODS = {"/ws": EXTENSION.rows, "/page": PAGE.rows}
MESSAGES = dict.fromkeys(
    kind for rows in METHODS.values() for row in rows for kind in (row.params, row.result)
)
BEGIN, END = "<!-- begin: written by `make docs` -->", "<!-- end -->"
TYPE_NAMES: dict[type[types.Type], str] = {
    types.AnyType: "unknown",
    types.NoneType: "null",
    types.StrType: "string",
    types.IntType: "number",
    types.FloatType: "number",
    types.BoolType: "boolean",
    types.RawType: "unknown",
}


class Member(NamedTuple):
    """A member of a shape, as the source declares it."""

    name: str
    type: str
    required: bool
    about: str

    @property
    def declared(self) -> str:
        return f"{self.name}{'' if self.required else '?'}: {self.type}"


def members(shape: type[msgspec.Struct]) -> list[Member]:
    """The members of a shape, those of its bases first."""
    info = cast(types.StructType, types.type_info(shape))
    fields = {field.name: field for field in info.fields}
    docs = [pair for kind in reversed(shape.__mro__) for pair in _field_docs(kind)]
    return [
        Member(fields[name].encode_name, _type(fields[name].type), fields[name].required, about)
        for name, about in docs
        if name in fields
    ]


def _field_docs(kind: type) -> Iterator[tuple[str, str]]:
    """The fields that a class itself declares, each with the string below it."""
    if not issubclass(kind, msgspec.Struct) or kind is msgspec.Struct:
        return
    body = cast(ast.ClassDef, ast.parse(inspect.getsource(kind)).body[0]).body
    for line, below in pairwise([*body, ast.Pass()]):
        if isinstance(line, ast.AnnAssign):
            yield cast(ast.Name, line.target).id, _string(below)


def _string(line: ast.stmt) -> str:
    if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant):
        return _words(str(line.value.value))
    return ""


def _words(text: str | None) -> str:
    return " ".join((text or "").split())


def _type(kind: types.Type) -> str:
    """A type in TypeScript."""
    if isinstance(kind, types.Metadata):
        return _type(kind.type)
    if isinstance(kind, types.StructType):
        return kind.cls.__name__
    if isinstance(kind, types.LiteralType):
        return " | ".join(json.dumps(value) for value in kind.values)
    if isinstance(kind, types.UnionType):
        return " | ".join(dict.fromkeys(_type(one) for one in kind.types))
    if isinstance(kind, types.ListType):
        inner = _type(kind.item_type)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if isinstance(kind, types.TupleType):
        return f"[{', '.join(_type(one) for one in kind.item_types)}]"
    if isinstance(kind, types.DictType):
        return f"Record<string, {_type(kind.value_type)}>"
    return TYPE_NAMES[type(kind)]


def _shapes() -> dict[str, type[msgspec.Struct]]:
    """Every shape of the commands by its name, in the order of the commands that use them."""
    sides = (side for command in COMMANDS.values() for side in _sides(command))
    return _with_inner(shape for side in sides for shape in side)


def _with_inner(outer: Iterable[type[msgspec.Struct]]) -> dict[str, type[msgspec.Struct]]:
    """Shapes by their names, each before those that occur inside it."""
    found: dict[str, type[msgspec.Struct]] = {}

    def add(kind: types.Type) -> None:
        if not isinstance(kind, types.StructType):
            for inner in inside(kind):
                add(inner)
        elif kind.cls.__name__ not in found:
            found[kind.cls.__name__] = kind.cls
            for field in kind.fields:
                add(field.type)

    for shape in outer:
        add(types.type_info(shape))
    return found


def inside(kind: types.Type) -> tuple[types.Type, ...]:
    """The types inside another type."""
    if isinstance(kind, types.Metadata):
        return (kind.type,)
    if isinstance(kind, types.UnionType):
        return kind.types
    if isinstance(kind, types.TupleType):
        return kind.item_types
    if isinstance(kind, types.ListType):
        return (kind.item_type,)
    return (kind.value_type,) if isinstance(kind, types.DictType) else ()


def schema() -> str:
    """`protocol/link.schema.json`: every shape, and the tables of methods and commands."""
    kinds = [*MESSAGES, *_shapes().values()]
    _, shapes = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for name, shape in _shapes().items():
        for member in members(shape):
            if member.about:
                shapes[name]["properties"][member.name]["description"] = member.about
    table = {
        name: {
            "description": command.about,
            "needsTab": command.needs_tab,
            "input": _any_of(command.inputs),
            "output": _any_of(command.outputs),
        }
        for name, command in COMMANDS.items()
    }
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": shapes,
        "methods": {path: [_method(row) for row in rows] for path, rows in METHODS.items()},
        "commands": table,
    }
    return json.dumps(whole, indent=2) + "\n"


def _method(row: LinkMethod) -> dict[str, Any]:
    method = {"name": row.name, "from": row.sender, "kind": row.kind, "params": _ref(row.params)}
    return method if row.kind == "notification" else {**method, "result": _ref(row.result)}


def _ref(shape: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": f"#/$defs/{shape.__name__}"}


def _any_of(shapes: Iterable[type[Shape]]) -> dict[str, Any]:
    refs = [_ref(shape) for shape in shapes]
    return refs[0] if len(refs) == 1 else {"anyOf": refs}


def declarations() -> str:
    """`extension/worker/shared/wire.d.ts`: what the worker's JSDoc refers to as `Wire`."""
    return _namespace(
        "Wire",
        "/** The commands of the link. Written by `make docs` from src/tabhub/wire/commands. */",
        [link.Dispatch, link.PluginCode, PluginTab, *_shapes().values()],
        [
            "interface Commands {",
            *(f"  {line}" for command in COMMANDS.values() for line in _entry(command)),
            "}",
            "",
            'type Input<N extends keyof Commands> = Commands[N]["input"];',
            'type Output<N extends keyof Commands> = Commands[N]["output"];',
            f"type BrowserCommand = {_names(needs_tab=False)};",
            f"type TabCommand = {_names(needs_tab=True)};",
        ],
    )


def panel_declarations() -> str:
    """`extension/panel/wire.d.ts`: what the panel's JSDoc refers to as `Panel`."""
    requests = [row for row in EXTENSION.rows if row.sender == "panel"]
    notifications = [row for row in EXTENSION.rows if row.receiver == "relay"]
    results = [row.result for row in requests]
    params = [row.params for row in (*requests, *notifications)]
    return _namespace(
        "Panel",
        "/** The panel's messages. Written by `make docs` from src/tabhub/wire/panel.py. */",
        _with_inner([*results, *params]).values(),
        [
            "interface Requests {",
            *(f"  {line}" for row in requests for line in _request(row)),
            "}",
            "",
            "interface Notifications {",
            *(f'  "{row.name}": {row.params.__name__};' for row in notifications),
            "}",
        ],
    )


def _namespace(
    name: str, note: str, shapes: Iterable[type[msgspec.Struct]], tables: Iterable[str]
) -> str:
    inside = [*(line for shape in shapes for line in _interface(shape)), *tables]
    indented = (f"  {line}".rstrip() for line in inside)
    lines = [note, "// prettier-ignore", f"declare namespace {name} {{", *indented, "}"]
    return "\n".join(lines) + "\n"


def _request(row: LinkMethod) -> list[str]:
    names = f"params: {row.params.__name__}; result: {row.result.__name__}"
    return [f"/** {row.about} */", f'"{row.name}": {{ {names} }};']


def _interface(shape: type[msgspec.Struct]) -> list[str]:
    lines = [f"/** {_words(shape.__doc__)} */", f"interface {shape.__name__} {{"]
    for member in members(shape):
        lines += [f"  /** {member.about} */"] if member.about else []
        lines.append(f"  {member.declared};")
    return [*lines, "}", ""]


def _entry(command: Command) -> list[str]:
    input, output = (" | ".join(s.__name__ for s in side) for side in _sides(command))
    return [
        f"/** {command.about} */",
        f'"{command.name}": {{ input: {input}; output: {output} }};',
    ]


def _sides(command: Command) -> tuple[tuple[type[Shape], ...], tuple[type[Shape], ...]]:
    return command.inputs, command.outputs


def _names(*, needs_tab: bool) -> str:
    names = [name for name, command in COMMANDS.items() if command.needs_tab == needs_tab]
    return " | ".join(f'"{name}"' for name in names)


def page(before: str) -> str:
    """`docs/link.md` with new tables between the marks; the rest stays as it is."""
    head, _, rest = before.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{_tables()}\n{END}{tail}"


def _tables() -> str:
    parts = [_family(title, commands) for title, commands in FAMILIES.items()]
    return "\n".join([*parts, _inner()])


def _family(title: str, commands: Iterable[Command]) -> str:
    columns = ["command", "in", "what it does", "input", "output"]
    rows = [
        [
            f"`{command.name}`",
            _where(command),
            cell(command.about),
            _side(command.inputs),
            _side(command.outputs),
        ]
        for command in commands
    ]
    lines = [columns, ["---"] * len(columns), *rows]
    return f"### {title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _where(command: Command) -> str:
    return "a tab" if command.needs_tab else "the browser"


def _inner() -> str:
    """The table of shapes that occur inside others."""
    outer = {shape for command in COMMANDS.values() for side in _sides(command) for shape in side}
    used = " ".join(member.type for shape in _shapes().values() for member in members(shape))
    named = {word.strip("[](),") for word in used.replace("<", " ").replace(">", " ").split()}
    rows = [
        f"| `{name}` | {_side((shape,))} |"
        for name, shape in sorted(_shapes().items())
        if shape not in outer or name in named
    ]
    return "\n".join(["### Shapes\n", "| shape | members |", "|---|---|", *rows]) + "\n"


def _side(shapes: Iterable[type[msgspec.Struct]]) -> str:
    return " Or: ".join(_shape(shape) for shape in shapes)


def _shape(shape: type[msgspec.Struct]) -> str:
    declared = ", ".join(member.declared for member in members(shape))
    notes = [
        f"`{documented.name}`: {_lower(documented.about)}"
        for documented in members(shape)
        if documented.about
    ]
    return cell(" ".join([f"`{{{declared}}}`", _words(shape.__doc__), *notes]))


def _lower(sentence: str) -> str:
    """The sentence with a small first letter, unless it starts with code or an acronym."""
    is_fixed = sentence.startswith("`") or sentence[1:2].isupper()
    return sentence if is_fixed else sentence[0].lower() + sentence[1:]


def cell(text: str) -> str:
    return text.replace("|", "\\|")
