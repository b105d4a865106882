"""The time limit of a call."""

import asyncio

import pytest

from tabhub.calls.time_limit import Limit


async def test_work_that_ends_in_time_is_not_interrupted() -> None:
    with Limit(60):
        await asyncio.sleep(0)


async def test_work_that_takes_too_long_ends_in_a_timeout_and_the_task_goes_on() -> None:
    with pytest.raises(TimeoutError):
        with Limit(0.01):
            await asyncio.Event().wait()
    await asyncio.sleep(0)


async def test_a_limit_can_be_extended() -> None:
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


async def test_a_cancellation_at_the_same_time_as_the_limit_wins() -> None:
    async def work() -> None:
        with Limit(60) as limit:
            limit.loop.call_soon(limit._fire)
            limit.loop.call_soon(task.cancel)
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_inner_of_two_limits_is_distinguished_from_the_outer() -> None:
    with Limit(60):
        with pytest.raises(TimeoutError):
            with Limit(0.01):
                await asyncio.Event().wait()
        await asyncio.sleep(0)


async def test_a_limit_that_is_over_cannot_be_extended() -> None:
    with Limit(0.01, longest=60) as limit:
        pass
    limit.extend()
    await asyncio.sleep(0.03)


async def test_a_limit_is_extended_up_to_the_maximum() -> None:
    with pytest.raises(TimeoutError):
        with Limit(0.02, longest=0.05) as limit:
            while True:
                limit.extend()
                await asyncio.sleep(0.005)


async def test_a_limit_says_once_that_the_work_goes_on_beyond_it() -> None:
    with Limit(60, 100) as limit:
        assert not limit.extend()
        limit._first = limit.loop.time()
        assert [limit.extend() for _ in range(3)] == [True, False, False]


async def test_a_limit_can_allow_more_time_but_not_beyond_the_longest() -> None:
    with Limit(10, 100) as limit:
        limit.allow(50)
        assert 40 < limit.left <= 50
        limit.allow(1000)
        assert limit.left <= 100
        limit.allow(5)
        assert limit.left > 90, "more is never taken away"
        assert limit.usual == 10
