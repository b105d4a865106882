"""How often the attacks on timing are repeated: few times in every run, 1,000 by `make attacks`."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

ROUNDS = int(os.environ.get("TABHUB_ATTACK_ROUNDS", "20"))
MANY = ROUNDS > 20
# By `make attacks` also while every core is busy.
at_load = pytest.mark.parametrize("busy", [False, True] if MANY else [False])
long_enough = pytest.mark.timeout(60 + 4 * ROUNDS)


@asynccontextmanager
async def load(busy: bool) -> AsyncIterator[None]:
    """Keep every core busy meanwhile, if asked to."""
    count = (os.cpu_count() or 1) if busy else 0
    command = (sys.executable, "-c", "while True: pass")
    processes = [await asyncio.create_subprocess_exec(*command) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            await process.wait()
