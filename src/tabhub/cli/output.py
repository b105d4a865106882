"""How commands print: tables on a terminal, JSON for programs."""

import codecs
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TextIO

import msgspec

if TYPE_CHECKING:
    from rich.console import Console

LAST_COLUMN_WIDTH = 30
"""A narrower last column goes to lines of its own."""
_KEPT_CONTROLS = {"\n", "\t"}
_C1_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
"""Some terminals obey these characters, and JSON encoders do not escape them."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_SHORT = (",", ":")


def is_capable(stream: TextIO) -> bool:
    """Whether it is a terminal that obeys sequences; on Windows the one that says what it is."""
    if not stream.isatty():
        return False
    if sys.platform == "win32" and "TERM" not in os.environ:
        return "WT_SESSION" in os.environ
    return os.environ.get("TERM", "dumb") not in ("dumb", "unknown")


def has_colours(stream: TextIO) -> bool:
    """Whether to colour what is written there: a terminal that can, and nobody has said no."""
    return is_capable(stream) and not os.environ.get("NO_COLOR")


def styled(text: str, code: str, stream: TextIO) -> str:
    """The text in a colour, by its number, where there are colours."""
    return f"\x1b[{code}m{text}\x1b[0m" if has_colours(stream) else text


def console(stream: TextIO) -> "Console":
    """Where rich draws, in colours or without any sequence for them."""
    from rich.console import Console

    colours: Literal["auto"] | None = "auto" if has_colours(stream) else None
    return Console(file=stream, highlight=False, color_system=colours)


def wants_json(requested: bool) -> bool:
    """Whether to print JSON: a program reads the output, or the person asked for it."""
    return requested or not sys.stdout.isatty()


def print_json(value: Any) -> None:
    """Print one line for a program, indented lines for a person."""
    # Flushed now: click handles a closed pipe here, but not when Python exits.
    print(json_text(value, is_indented=sys.stdout.isatty()), flush=True)


def print_json_lines(values: Iterable[Any]) -> None:
    """Print each value in a line of its own, as soon as there is one."""
    for value in values:
        print(json_text(value), flush=True)


def json_text(value: Any, *, is_indented: bool = False) -> str:
    """JSON that stays JSON in the encoding of the output."""
    try:
        encoded = msgspec.json.encode(value)
        text = (msgspec.json.format(encoded) if is_indented else encoded).decode()
    except UnicodeEncodeError:
        # A path need not be text; the other encoder escapes what is none.
        text = json.dumps(value, indent=2) if is_indented else json.dumps(value, separators=_SHORT)
    text = text.translate(_C1_CONTROLS)
    return text if _takes_all(sys.stdout) else _NOT_ASCII.sub(_escaped, text)


def _takes_all(stream: TextIO) -> bool:
    """Whether its encoding has all characters; others escape in a way that is not JSON's."""
    return codecs.lookup(stream.encoding or "utf-8").name == "utf-8"


def _escaped(character: re.Match[str]) -> str:
    return json.dumps(character[0])[1:-1]


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
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    out = console(sys.stdout)
    cells = [[Text(harmless(str(cell))) for cell in row] for row in rows]
    if not cells:
        out.print("Nothing to show.")
        return
    lines = [[Text(name, "bold") for name in columns], *cells]
    widths = [max(cell.cell_len for cell in column) for column in zip(*lines, strict=True)][:-1]
    if sum(widths) + 2 * len(widths) + LAST_COLUMN_WIDTH <= out.width:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for name in columns[:-1]:
            table.add_column(name, no_wrap=True)
        table.add_column(columns[-1], overflow="fold")
        for row in cells:
            table.add_row(*row)
        out.print(table)
        return
    for row in lines:
        for cell, width in zip(row[:-1], widths, strict=True):
            cell.pad_right(max(width - cell.cell_len, 0))
        out.print(Text("  ").join(row[:-1]), overflow="fold")
        out.print(Padding(row[-1], (0, 0, 0, 4)), overflow="fold")
