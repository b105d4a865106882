"""The comparison with other servers: one run, a table with a column for each of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bench.peers import comparison
from bench.peers.compared_server import ComparedServer, Spot
from bench.peers.comparison import Pace
from tests.support.site import Site, serving

SIZES = {"tabhub": 500, "floor": 10, "playwright": 1000, "devtools": 4000}
ONCE = Pace("once", 1, 1, 0.0)


class Counted(ComparedServer):
    """Does nothing, and returns the same size each time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_peer = name not in ("tabhub", "floor")

    async def visit(self, url: str) -> int:
        return SIZES[self.name]

    async def evaluate(self) -> int:
        return SIZES[self.name]

    async def screenshot(self) -> int:
        return SIZES[self.name]

    async def click(self, spot: Spot) -> int:
        return SIZES[self.name]

    async def snapshot(self) -> int:
        return SIZES[self.name]


@asynccontextmanager
async def counted_servers() -> AsyncIterator[tuple[Site, list[ComparedServer]]]:
    with serving() as site:
        yield site, [Counted(name) for name in SIZES]


@pytest.mark.requirement("TH-42")
def test_one_run_prints_a_column_for_each_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "all_servers", counted_servers)
    monkeypatch.setattr(comparison, "TIGHT", ONCE)
    monkeypatch.setattr(comparison, "CALM", ONCE)
    times, _, sizes = comparison.measure()
    head, _, evaluate, *_ = times.splitlines()
    assert head == "| ms, once | tabhub | floor | playwright | devtools | ÷ best peer | aim |"
    assert evaluate.startswith("| evaluate 1+1 |") and "–" not in evaluate
    fill = next(line for line in times.splitlines() if "fill a field" in line)
    assert fill.count("–") == len(SIZES)
    # The best peer is the smallest one; the floor is none.
    snapshot = next(line for line in sizes.splitlines() if "small form" in line)
    assert snapshot.endswith("| 0.50× |")
