"""Generates the tables of the link's methods in docs/, and the extension's list of them."""

import json
import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import inspect as types

from scripts.link_pages import cell, inside, members
from tabhub.wire import link_versions as versions
from tabhub.wire import methods
from tabhub.wire.methods import LinkMethod

_SECTION = re.compile(r"(<!-- methods: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
LONG = 10
"""A shape with more members than this has its own line below the table."""


def filled(before: str) -> str:
    """A page of docs/ with new tables of methods between its marks."""
    return _SECTION.sub(lambda found: found[1] + _section(found[2]) + found[3], before)


def _section(name: str) -> str:
    if name == "page":
        return _table(methods.PAGE.rows, with_sender=True)
    rows = [row for row in methods.EXTENSION.rows if row.sender == name]
    return f"{_table(rows)}\n{_shapes(rows)}"


def _table(rows: Iterable[LinkMethod], with_sender: bool = False) -> str:
    columns = ["method", "kind", "what it does", "params", "result"]
    lines = [columns, ["---"] * len(columns), *(_cells(row) for row in rows)]
    if with_sender:
        senders = ["from", "---", *(row.sender for row in rows)]
        lines = [[sender, *line] for sender, line in zip(senders, lines, strict=True)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cells(row: LinkMethod) -> list[str]:
    result = "" if row.kind == "notification" else f"`{_shape(row.result)}`"
    texts = [f"`{row.name}`", row.kind, row.about, f"`{_shape(row.params)}`", result]
    return [cell(text) for text in texts]


def _shape(kind: type[msgspec.Struct]) -> str:
    return kind.__name__ if len(members(kind)) > LONG else _declared(kind)


def _declared(kind: type[msgspec.Struct]) -> str:
    return "{" + ", ".join(member.declared for member in members(kind)) + "}"


def _shapes(rows: Iterable[LinkMethod]) -> str:
    """The members of the shapes that the table only names."""
    outer = [kind for row in rows for kind in (row.params, row.result)]
    named = [kind for kind in outer if len(members(kind)) > LONG]
    found = dict.fromkeys([*named, *(inner for kind in outer for inner in _within(kind))])
    return "".join(f"- `{kind.__name__}` is `{_declared(kind)}`.\n" for kind in found)


def _within(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    def find(kind: types.Type) -> Iterator[type[msgspec.Struct]]:
        if isinstance(kind, types.StructType):
            yield kind.cls
            yield from _within(kind.cls)
        for inner in inside(kind):
            yield from find(inner)

    for field in msgspec.structs.fields(kind):
        yield from find(types.type_info(field.type))


def extension_lists() -> str:
    """`extension/worker/shared/link-methods.js`."""
    received = ((row.name, row.sender) for row in methods.EXTENSION.received.values())
    sent = ((row.name, f"{row.receiver} {row.kind}") for row in methods.EXTENSION.sent.values())
    return (
        "/** Written by `make docs` from `wire/methods.py` and `wire/link_versions.py`. */\n\n"
        "/** The version of the protocol, and the oldest version that this extension accepts. */\n"
        f"export const PROTOCOL = {versions.PROTOCOL};\n"
        f"export const OLDEST_PROTOCOL = {versions.OLDEST_PROTOCOL};\n\n"
        "/** The sender of each method that the server accepts: this extension, or its panel. */\n"
        + _map("SENDERS", received)
        + "\n/** The receiver of each method that the server sends, and its kind. */\n"
        + _map("RECEIVERS", sent)
    )


def _map(name: str, entries: Iterable[tuple[str, str]]) -> str:
    lines = "".join(f"  {json.dumps(entry)},\n" for entry in entries)
    return f"export const {name} = new Map([\n{lines}]);\n"
