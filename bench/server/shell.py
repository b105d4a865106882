"""How long an agent with a shell waits for `tabhub tool list`."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.rows import Row
from bench.server.help import LIMIT, PYTHON, ROUNDS, seconds
from tests.support.product import Product

LIST = [str(Path(sys.executable).with_name("tabhub")), "tool", "list"]


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        product = Product(Path(name) / "home")
        with product.running("start", "--port", "0"):
            product.wait_running()
            environment = product.environment
            times = [(seconds(LIST, environment), seconds(PYTHON)) for _ in range(ROUNDS)]
    ours, bare = (median(column) for column in zip(*times, strict=True))
    note = f"{ours / bare:.1f}× `python -c pass`, fastest {min(t for t, _ in times):.2f} s"
    yield Row("tabhub tool list", ours, " s", LIMIT, note)
