"""The time limit of a call."""

import asyncio

import pytest

from tabhub.calls.time_limit import Limit


async def test_what_ends_in_time_is_left_alone() -> None:
    with Limit(60):
        await asyncio.sleep(0)


async def test_what_takes_too_long_ends_in_a_timeout_and_the_task_lives_on() -> None:
    with pytest.raises(TimeoutError):
        with Limit(0.01):
            await asyncio.Event().wait()
    await asyncio.sleep(0)


async def test_a_limit_can_be_put_off() -> None:
    with Limit(0.01) as limit:
        limit.reschedule(limit.loop.time() + 60)
        await asyncio.sleep(0.03)


async def test_a_cancellation_from_outside_stays_one() -> None:
    inside = asyncio.Event()

    async def work() -> None:
        with Limit(60):
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_that_comes_together_with_the_limit_wins() -> None:
    async def work() -> None:
        with Limit(60) as limit:
            limit.loop.call_soon(limit._fire)
            limit.loop.call_soon(task.cancel)
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_inner_of_two_limits_is_told_apart_from_the_outer() -> None:
    with Limit(60):
        with pytest.raises(TimeoutError):
            with Limit(0.01):
                await asyncio.Event().wait()
        await asyncio.sleep(0)


async def test_a_limit_that_is_over_cannot_be_put_off() -> None:
    with Limit(0.01, longest=60) as limit:
        pass
    limit.extend()
    await asyncio.sleep(0.03)


async def test_a_limit_is_extended_up_to_the_longest_and_no_further() -> None:
    with pytest.raises(TimeoutError):
        with Limit(0.02, longest=0.05) as limit:
            while True:
                limit.extend()
                await asyncio.sleep(0.005)
