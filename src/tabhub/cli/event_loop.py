"""The event loop of commands that serve."""

import asyncio
from collections.abc import Coroutine
from typing import Any


def run_loop(work: Coroutine[Any, Any, None]) -> None:
    """uvloop, where it is installed, halves the cost of a call."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)
