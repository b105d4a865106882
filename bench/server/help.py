"""How long a person waits for `tabhub --help`."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.rows import Row

LIMIT = 0.3
ROUNDS = 11
PYTHON = [sys.executable, "-c", "pass"]
HELP = [str(Path(sys.executable).with_name("tabhub")), "--help"]


def measure() -> Iterator[Row]:
    times: list[tuple[float, float]] = [(seconds(HELP), seconds(PYTHON)) for _ in range(ROUNDS)]
    ours, bare = (median(column) for column in zip(*times, strict=True))
    note = f"{ours / bare:.1f}× `python -c pass`, fastest {min(t for t, _ in times):.2f} s"
    yield Row("tabhub --help", ours, " s", LIMIT, note)


def seconds(command: list[str], environment: dict[str, str] | None = None) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - begin
