"""Waiting for a condition: the only polling loop in the tests.

A test awaits an event if one exists. For another process, a browser or a file it polls a condition
with `eventually`, or with `eventually_sync` outside of a coroutine. All other waits have `PATIENCE`
as their limit.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, TypeVar, overload

PATIENCE = 60.0
"""Seconds that a test waits for what will happen: a busy machine makes it late, not wrong."""
PAUSE = 0.02

T = TypeVar("T")
Errors = tuple[type[Exception], ...]


@overload
async def eventually(
    look: Callable[[], Awaitable[T | None]],
    what: str = ...,
    *,
    seconds: float = ...,
    ignore: Errors = ...,
) -> T: ...


@overload
async def eventually(
    look: Callable[[], Awaitable[T]],
    what: str = ...,
    *,
    until: Callable[[T], object],
    seconds: float = ...,
    ignore: Errors = ...,
) -> T: ...


@overload
async def eventually(
    look: Callable[[], T | None], what: str = ..., *, seconds: float = ..., ignore: Errors = ...
) -> T: ...


async def eventually(
    look: Callable[[], Any],
    what: str = "",
    *,
    until: Callable[[Any], object] = bool,
    seconds: float = PATIENCE,
    ignore: Errors = (),
) -> Any:
    """Poll until the result is true, or `until` accepts it; return it.

    `ignore` has the errors of a look that is too early.
    """
    found: Any = None
    try:
        async with asyncio.timeout(seconds) as limit:
            while True:
                try:
                    found = look()
                    found = await found if isawaitable(found) else found
                    if until(found):
                        return found
                except ignore:
                    pass
                await asyncio.sleep(PAUSE)
    except TimeoutError:
        if not limit.expired():
            raise
        raise AssertionError(_waited(seconds, what, found)) from None


def eventually_sync(look: Callable[[], T | None], what: str, *, seconds: float = PATIENCE) -> T:
    """Poll until the result is true and return it, without an event loop."""
    limit = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > limit:
            raise AssertionError(_waited(seconds, what, found))
        time.sleep(PAUSE)
    return found


def _waited(seconds: float, what: str, found: object) -> str:
    return f"waited {seconds:.0f} s for {what or 'it to happen'}; last seen: {found!r}"
