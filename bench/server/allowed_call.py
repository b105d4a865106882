"""CPU of a call that needs no approval, with 10,000 rules against none."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from msgspec import Raw

from bench.rows import Row
from bench.server.decide import RULES, policy
from bench.server.echo_server import ECHO, echo_app
from tabhub.calls.call import Call
from tabhub.calls.runner import Runner
from tabhub.config.paths import Home

LIMIT = 1.1
CALLS = 3_000
ROUNDS = 9


def measure() -> Iterator[Row]:
    yield asyncio.run(_row())


async def _row() -> Row:
    with TemporaryDirectory() as bare, TemporaryDirectory() as ruled:
        homes = [Home(Path(folder)).create() for folder in (bare, ruled)]
        homes[1].policy.write_text(policy())
        apps = [echo_app(home) for home in homes]
        turns = [[await _cost(app.runner) for app in apps] for _ in range(ROUNDS)]
        for app in apps:
            app.close()
    ratio = median(with_rules / without for without, with_rules in turns)
    costs = [median(column) for column in zip(*turns, strict=True)]
    note = f"{costs[1]:.1f} µs against {costs[0]:.1f} µs, audit included"
    return Row(f"a call without approval, {RULES:,} rules: CPU", ratio, "×", LIMIT, note)


async def _cost(runner: Runner) -> float:
    """Microseconds of CPU per call."""
    raw = Raw(b'{"text":"hello"}')
    begin = time.process_time()
    for _ in range(CALLS):
        await runner.run(Call(ECHO.name, raw, "bench", _ignore))
    return (time.process_time() - begin) / CALLS * 1e6


async def _ignore(progress: float, total: float | None, message: str | None) -> None:
    return None
