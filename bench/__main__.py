"""`python -m bench [NAME...]`: measure all, or what is named, and print the table."""

import sys
from collections.abc import Callable, Iterator

from bench import decide, echo, evaluate, help, memory, operations, permit
from bench.rows import Row, line, table

FIGURES: dict[str, Callable[[], Iterator[Row]]] = {
    "echo": echo.measure,
    "help": help.measure,
    "decide": decide.measure,
    "permit": permit.measure,
    "memory": memory.measure,
    "evaluate": evaluate.measure,
    "operations": operations.measure,
}


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in FIGURES]
    if unknown:
        sys.exit(f"There is no {unknown[0]!r}. There are: {', '.join(FIGURES)}.")
    rows = []
    for name in names or FIGURES:
        for row in FIGURES[name]():
            print(line(row), flush=True)
            rows.append(row)
    print(f"\n{table(rows)}")


main(sys.argv[1:])
