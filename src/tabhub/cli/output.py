"""How commands print: tables on a terminal, JSON for programs."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

LAST_COLUMN_WIDTH = 30
"""A narrower last column goes to lines of its own."""
_KEPT_CONTROLS = {"\n", "\t"}
_C1_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
"""Some terminals obey these characters, and JSON encoders do not escape them."""


def wants_json(requested: bool) -> bool:
    """Whether to print JSON: a program reads the output, or the person asked for it."""
    return requested or not sys.stdout.isatty()


def print_json(value: Any) -> None:
    """Print one line for a program, indented lines for a person."""
    encoded = msgspec.json.encode(value)
    text = (msgspec.json.format(encoded) if sys.stdout.isatty() else encoded).decode()
    # Flushed now: click handles a closed pipe here, but not when Python exits.
    print(text.translate(_C1_CONTROLS), flush=True)


def harmless(text: str) -> str:
    """Text of a page or an agent with control characters escaped, so that no terminal obeys it."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in _KEPT_CONTROLS else ascii(letter)[1:-1]
        for letter in text
    )


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table that fits the terminal; a last column without room gets its own lines."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    cells = [[Text(harmless(str(cell))) for cell in row] for row in rows]
    if not cells:
        console.print("Nothing to show.")
        return
    lines = [[Text(name, "bold") for name in columns], *cells]
    widths = [max(cell.cell_len for cell in column) for column in zip(*lines, strict=True)][:-1]
    if sum(widths) + 2 * len(widths) + LAST_COLUMN_WIDTH <= console.width:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for name in columns[:-1]:
            table.add_column(name, no_wrap=True)
        table.add_column(columns[-1], overflow="fold")
        for row in cells:
            table.add_row(*row)
        console.print(table)
        return
    for row in lines:
        for cell, width in zip(row[:-1], widths, strict=True):
            cell.pad_right(max(width - cell.cell_len, 0))
        console.print(Text("  ").join(row[:-1]), overflow="fold")
        console.print(Padding(row[-1], (0, 0, 0, 4)), overflow="fold")
