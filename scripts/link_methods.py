"""The link's methods for readers: tables in docs/, and the extension's own lists."""

import json
import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import inspect as types

from scripts.link_pages import cell, inside, members
from tabhub.wire import link_versions as versions
from tabhub.wire import methods
from tabhub.wire.methods import Method

_SECTION = re.compile(r"(<!-- methods: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
LONG = 10
"""A shape with more members has a line of its own below the table."""


def filled(before: str) -> str:
    """A page of docs/ with the tables of methods between its marks written again."""
    return _SECTION.sub(lambda found: found[1] + _section(found[2]) + found[3], before)


def _section(name: str) -> str:
    if name == "page":
        return _table(methods.PAGE.rows, with_sender=True)
    rows = [row for row in methods.EXTENSION.rows if row.sender == name]
    return f"{_table(rows)}\n{_shapes(rows)}"


def _table(rows: Iterable[Method], with_sender: bool = False) -> str:
    columns = ["method", "kind", "what it says", "params", "result"]
    lines = [columns, ["---"] * len(columns), *(_cells(row) for row in rows)]
    if with_sender:
        senders = ["from", "---", *(row.sender for row in rows)]
        lines = [[sender, *line] for sender, line in zip(senders, lines, strict=True)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cells(row: Method) -> list[str]:
    result = "" if row.kind == "notification" else f"`{_shape(row.result)}`"
    said = [f"`{row.name}`", row.kind, row.about, f"`{_shape(row.params)}`", result]
    return [cell(text) for text in said]


def _shape(kind: type[msgspec.Struct]) -> str:
    return kind.__name__ if len(members(kind)) > LONG else _declared(kind)


def _declared(kind: type[msgspec.Struct]) -> str:
    return "{" + ", ".join(member.declared for member in members(kind)) + "}"


def _shapes(rows: Iterable[Method]) -> str:
    """The shapes that the table only names, each once."""
    outer = [kind for row in rows for kind in (row.params, row.result)]
    named = [kind for kind in outer if len(members(kind)) > LONG]
    found = dict.fromkeys([*named, *(inner for kind in outer for inner in _within(kind))])
    return "".join(f"- `{kind.__name__}` is `{_declared(kind)}`.\n" for kind in found)


def _within(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    def look(one: types.Type) -> Iterator[type[msgspec.Struct]]:
        if isinstance(one, types.StructType):
            yield one.cls
            yield from _within(one.cls)
        for inner in inside(one):
            yield from look(inner)

    for field in msgspec.structs.fields(kind):
        yield from look(types.type_info(field.type))


def extension_lists() -> str:
    """`extension/worker/shared/link-methods.js`."""
    received = ((row.name, row.sender) for row in methods.EXTENSION.received.values())
    sent = ((row.name, f"{row.receiver} {row.kind}") for row in methods.EXTENSION.sent.values())
    return (
        "/** Written by `make docs` from `wire/methods.py` and `wire/link_versions.py`. */\n\n"
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
