"""One measured figure, and a table of them."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """The measured figure, its unit and its limit."""

    what: str
    measured: float
    unit: str
    limit: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.limit is None:
            return ""
        return "ok" if self.measured <= self.limit else "over"

    def cells(self) -> tuple[str, ...]:
        limit = "" if self.limit is None else _formatted(self.limit, self.unit)
        return (self.what, _formatted(self.measured, self.unit), limit, self.verdict, self.note)


HEAD = ("what", "measured", "limit", "", "note")


def line(row: Row) -> str:
    """A row as one line, to print while the rest is being measured."""
    return "  ".join(filter(None, row.cells()))


def table(rows: Iterable[Row]) -> str:
    """All rows, as Markdown."""
    cells = [HEAD, *(row.cells() for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    lines = [_joined(row, widths) for row in cells]
    return "\n".join([lines[0], _joined(["-" * width for width in widths], widths), *lines[1:]])


def _joined(row: Iterable[str], widths: Iterable[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"| {' | '.join(cells)} |"


def _formatted(value: float, unit: str) -> str:
    return f"{value:.3g}{unit}" if value < 100 else f"{value:.0f}{unit}"
