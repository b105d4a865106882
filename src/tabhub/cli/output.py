"""What commands print: tables on a terminal, JSON for programs."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

LEAST_WIDTH = 30
_SHOWN = {"\n", "\t"}
_UNSEEN_IN_JSON = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
"""What some terminals obey, and JSON does not escape by itself."""


def wants_json(asked: bool) -> bool:
    """Whether a program reads this, or a person wants what a program would get."""
    return asked or not sys.stdout.isatty()


def print_json(value: Any) -> None:
    """One line for a program, indented for a person."""
    encoded = msgspec.json.encode(value)
    text = (msgspec.json.format(encoded) if sys.stdout.isatty() else encoded).decode()
    # Flushed here, where a reader that has gone away is no surprise.
    print(text.translate(_UNSEEN_IN_JSON), flush=True)


def harmless(text: str) -> str:
    """Text of a page or an agent, so that a terminal shows it and obeys nothing in it."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in _SHOWN else ascii(letter)[1:-1]
        for letter in text
    )


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Fitted to the terminal: the last column takes what is left, or lines of its own."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    cells = [[Text(harmless(str(cell))) for cell in row] for row in rows]
    if not cells:
        console.print("Nothing to show.")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns[:-1]:
        table.add_column(name, no_wrap=True)
    table.add_column(columns[-1], overflow="fold")
    for row in cells:
        table.add_row(*row)
    lines = [[Text(name, "bold") for name in columns], *cells]
    widths = [max(cell.cell_len for cell in each) for each in zip(*lines, strict=True)][:-1]
    if sum(widths) + 2 * len(widths) + LEAST_WIDTH <= console.width:
        console.print(table)
        return
    for row in lines:
        for cell, width in zip(row[:-1], widths, strict=True):
            cell.pad_right(max(width - cell.cell_len, 0))
        console.print(Text("  ").join(row[:-1]), overflow="fold")
        console.print(Padding(row[-1], (0, 0, 0, 4)), overflow="fold")
