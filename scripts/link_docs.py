"""The link's methods as text: tables for docs/, and the extension's own lists."""

import json
import re
import types
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from tabhub.wire import methods, versions
from tabhub.wire.methods import Method

ROOT = Path(__file__).parent.parent
_SECTION = re.compile(r"(<!-- methods: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

NAMES = {"TabState": "Tab"}
"""Structs that the prose calls by another name."""


def filled(page: str) -> str:
    """A page of docs/ with the tables of methods that it has markers for."""
    return _SECTION.sub(
        lambda found: found[1] + _section(found[2]) + found[3], (ROOT / page).read_text()
    )


def _section(name: str) -> str:
    if name == "page":
        return _table(methods.PAGE.rows, with_sender=True)
    rows = [row for row in methods.EXTENSION.rows if row.sender == name]
    return _table(rows) + "\n" + _shapes(rows)


def _table(rows: Iterable[Method], with_sender: bool = False) -> str:
    columns = ["method", "kind", "params", "result", ""]
    lines = [columns, ["---"] * len(columns), *(_cells(row) for row in rows)]
    if with_sender:
        senders = ["from", "---", *(row.sender for row in rows)]
        lines = [[sender, *line] for sender, line in zip(senders, lines, strict=True)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _cells(row: Method) -> list[str]:
    result = "" if row.kind == "notification" else f"`{_shape(row.result)}`"
    cells = [f"`{row.name}`", row.kind, f"`{_shape(row.params)}`", result]
    return [cell.replace("|", "\\|") for cell in [*cells, row.about]]


def _shapes(rows: Iterable[Method]) -> str:
    """The structs within those of the tables, each once."""
    found: dict[type, None] = {}
    for row in rows:
        for kind in (row.params, row.result):
            _collect(kind, found)
    lines = [f"- `{_name(kind)}` is `{_fields(kind)}`\n" for kind in found]
    return "".join([*lines, "\n"]) if lines else ""


def _collect(kind: type, found: dict[type, None]) -> None:
    if _is_named(kind):
        found[kind] = None
    for field in msgspec.structs.fields(kind):
        for inner in _structs(field.type):
            if inner not in found:
                found[inner] = None
                _collect(inner, found)


def _structs(kind: Any) -> Iterator[type]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for inner in typing.get_args(kind):
        yield from _structs(inner)


def _is_named(kind: type) -> bool:
    """Whether a struct is too long for a cell of a table."""
    return len(msgspec.structs.fields(kind)) > 10


def _name(kind: type) -> str:
    return NAMES.get(kind.__name__, kind.__name__)


def _shape(kind: type) -> str:
    return _name(kind) if _is_named(kind) else _fields(kind)


def _fields(kind: type) -> str:
    return "{" + ", ".join(_field(field) for field in msgspec.structs.fields(kind)) + "}"


def _field(field: msgspec.structs.FieldInfo) -> str:
    name = field.encode_name if field.required else f"{field.encode_name}?"
    shown = _type(field.type, nullable=field.required)
    return f"{name}: {shown}" if shown else name


def _type(kind: Any, nullable: bool) -> str:
    """A type where its name does not say it: words to choose from, structs, null."""
    kind = _bare(kind)
    if typing.get_origin(kind) is typing.Literal:
        return "|".join(json.dumps(word) for word in typing.get_args(kind))
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return _union([_bare(inner) for inner in typing.get_args(kind)], nullable)
    if typing.get_origin(kind) is list:
        inner = _type(typing.get_args(kind)[0], nullable)
        return f"[{inner}]" if inner else ""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _name(kind)
    return ""


def _bare(kind: Any) -> Any:
    return typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind


def _union(kinds: list[Any], nullable: bool) -> str:
    shown = [text for kind in kinds if (text := _type(kind, nullable))]
    if nullable and type(None) in kinds:
        plain = [word for kind, word in ((int, "number"), (str, "string")) if kind in kinds]
        return " | ".join([*shown, *plain, "null"])
    return "|".join(shown)


def extension_lists() -> str:
    """`extension/worker/methods.js`."""
    link = methods.EXTENSION
    received = ((row.name, row.sender) for row in link.received.values())
    sent = ((row.name, f"{row.receiver} {row.kind}") for row in link.sent.values())
    return (
        "/** Written by `make docs` from `wire/methods.py` and `wire/versions.py`. */\n\n"
        "/** What this extension speaks, and the oldest that it understands. */\n"
        f"export const PROTOCOL = {versions.PROTOCOL};\n"
        f"export const OLDEST_PROTOCOL = {versions.OLDEST_PROTOCOL};\n\n"
        "/** Who sends each method that the server takes: this extension itself, or its panel. */\n"
        + _map("SENDERS", received)
        + "\n/** What takes each method that the server sends, and how it is sent. */\n"
        + _map("RECEIVERS", sent)
    )


def _map(name: str, entries: Iterable[tuple[str, str]]) -> str:
    lines = "".join(f"  {json.dumps(entry)},\n" for entry in entries)
    return f"export const {name} = new Map([\n{lines}]);\n"
