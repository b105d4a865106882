"""The figures of docs/performance.md, kept in performance.json, as tables."""

import json
from collections.abc import Iterable, Sequence
from math import log
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "performance.json"
SIDES = ("tabhub", "playwright", "devtools")
COSTS = {"calls": "calls", "bytes": "bytes", "seconds": "s"}

Figures = dict[str, dict[str, dict[str, float]]]
"""For each task and side: `solved` (the part of the rounds), `calls`, `bytes`, `seconds`."""
Growth = dict[str, list[tuple[float, float]]]
"""For each measured thing: its size, and what it costs at that size."""


def load() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return known


def save(**measured: Any) -> None:
    """Replace these figures, and keep the others."""
    FILE.write_text(json.dumps({**load(), **measured}, indent=1) + "\n")


def exponent(points: Sequence[Sequence[float]]) -> float:
    """The slope of the line through the logarithms: 0 if size costs nothing, 1 if it is linear."""
    xs, ys = ([log(point[axis]) for point in points] for axis in (0, 1))
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    shared = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return shared / sum((x - mean_x) ** 2 for x in xs)


def task_table(found: Figures) -> str:
    head = ["task", *(f"{side}, {unit}" for unit in COSTS.values() for side in SIDES), "solved"]
    rows = [[name, *_costs(sides), _solved(sides)] for name, sides in found.items()]
    sums = {
        side: {cost: sum(sides[side][cost] for sides in found.values()) for cost in COSTS}
        for side in SIDES
    }
    best = [min(sums[side][cost] for side in SIDES[1:]) for cost in COSTS]
    ours = [sums[SIDES[0]][cost] for cost in COSTS]
    ratios = [cell for mine, peer in zip(ours, best, strict=True) for cell in (mine / peer, "", "")]
    shown = [f"{cell:.2f}×" if isinstance(cell, float) else cell for cell in ratios]
    return table(head, [*rows, ["all", *_costs(sums), ""], ["÷ best peer", *shown, ""]])


def _costs(sides: dict[str, dict[str, float]]) -> list[str]:
    return [number(sides[side][cost]) for cost in COSTS for side in SIDES]


def _solved(sides: dict[str, dict[str, float]]) -> str:
    missed = [f"{side} {sides[side]['solved']:.0%}" for side in SIDES if sides[side]["solved"] < 1]
    return ", ".join(missed) or "by all"


def growth_table(found: Growth) -> str:
    """One row for each thing: its cost at each size, and the exponent."""
    lines = []
    for name, points in found.items():
        sizes = ["size", *(f"{int(size):,}" for size, _ in points), "exponent"]
        costs = [name, *(number(cost) for _, cost in points), f"{exponent(points):.2f}"]
        lines.append(table(sizes, [costs]))
    return "\n".join(lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
