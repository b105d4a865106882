"""The rate limit alone: a sliding window, for one or for many keys."""

from hypothesis import given
from hypothesis import strategies as st

from tabhub.rate_limit import RateLimit, RateLimits

SECONDS = 60.0


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(
    st.lists(st.tuples(st.floats(0, 30), st.integers(1, 4)), max_size=60),
    st.integers(1, 8),
)
def test_no_window_has_more_than_the_limit(steps: list[tuple[float, int]], most: int) -> None:
    clock, admitted = Clock(), list[tuple[float, int]]()
    limit = RateLimit(most, SECONDS, clock)
    for gap, amount in steps:
        clock.now += gap
        wait = limit.admit(amount)
        if wait == 0:
            admitted.append((clock.now, amount))
        else:
            assert 0 < wait <= SECONDS + 1e-9
            assert limit.wait(amount) == wait
    for time, _ in admitted:
        within = [amount for other, amount in admitted if other <= time < other + SECONDS]
        assert sum(within) <= most


@given(st.lists(st.integers(1, 20), min_size=1, max_size=30), st.integers(1, 5))
def test_requests_are_admitted_after_the_wait_and_not_before(gaps: list[int], most: int) -> None:
    clock = Clock()
    limit = RateLimit(most, SECONDS, clock)
    for gap in gaps:
        clock.now += gap
        wait = limit.admit()
        if wait:
            clock.now += wait - 0.5
            assert limit.wait() == 0.5
            clock.now += 0.5
            assert limit.admit() == 0


def test_refused_requests_are_not_counted() -> None:
    clock = Clock()
    limit = RateLimit(2, SECONDS, clock)
    assert [limit.admit() for _ in range(4)] == [0, 0, SECONDS, SECONDS]
    clock.now += SECONDS
    assert limit.is_idle
    assert [limit.admit() for _ in range(3)] == [0, 0, SECONDS]


def test_an_amount_above_the_limit_is_never_admitted_and_uses_nothing() -> None:
    clock = Clock()
    limit = RateLimit(10, SECONDS, clock)
    assert limit.admit(11) == SECONDS
    assert limit.admit(10) == 0


def test_a_lowered_limit_admits_again_when_enough_has_expired() -> None:
    clock = Clock()
    limit = RateLimit(4, SECONDS, clock)
    for _ in range(4):
        assert limit.admit() == 0
        clock.now += 1
    limit.most = 2
    assert limit.wait() == SECONDS - 2


def test_each_key_has_its_own_count_and_may_have_its_own_limit() -> None:
    limits: RateLimits[str] = RateLimits(1, SECONDS, Clock())
    assert [limits.admit("a"), limits.admit("b")] == [0, 0]
    assert limits.wait("a") == limits.admit("a") == SECONDS
    assert [limits.admit("a", 2), limits.admit("a", 2)] == [0, SECONDS]
    limits.forget("a")
    assert limits.wait("a") == 0


def test_queries_store_nothing_and_idle_keys_are_dropped_first() -> None:
    clock = Clock()
    limits: RateLimits[int] = RateLimits(1, SECONDS, clock, most_keys=3)
    assert limits.wait(1) == 0 and len(limits) == 0
    for key in (1, 2, 3):
        clock.now += 25
        limits.count(key)
    limits.count(4)
    assert (len(limits), limits.wait(1), limits.wait(2) > 0) == (3, 0, True)
    clock.now += 36
    limits.count(5)
    assert (len(limits), limits.wait(3) > 0) == (3, True)
    limits.count(6)
    assert (len(limits), limits.wait(3), limits.wait(4) > 0) == (3, 0, True)


@given(
    st.lists(st.tuples(st.floats(0, 30), st.integers(1, 4)), max_size=60),
    st.integers(1, 8),
)
def test_a_grain_admits_no_more_and_keeps_few_amounts(
    steps: list[tuple[float, int]], most: int
) -> None:
    clock, admitted = Clock(), list[tuple[float, int]]()
    limit = RateLimit(most, SECONDS, clock, grain=10)
    for gap, amount in steps:
        clock.now += gap
        wait = limit.admit(amount)
        if wait == 0:
            admitted.append((clock.now, amount))
        assert wait <= SECONDS + 10
        assert len(limit._counted) <= 8
    for time, _ in admitted:
        within = [amount for other, amount in admitted if other <= time < other + SECONDS]
        assert sum(within) <= most


def test_what_happened_before_counts_from_then_on() -> None:
    clock = Clock()
    limit = RateLimit(3, SECONDS, clock)
    limit.count(2, ago=50)
    limit.count(1, ago=20)
    assert limit.wait() == 10
    clock.now += 10
    assert limit.wait(2) == 0
    assert limit.wait(3) == 30
