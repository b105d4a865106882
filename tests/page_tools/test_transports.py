"""A way to pages comes and goes; its pages outlive that for a while, counted from the last step."""

from collections.abc import Callable

import pytest

from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.registrations import BACK_SECONDS, GONE_SECONDS, Ways
from tests.page_tools.memory_transport import MemoryTransport

ONE, TWO = PageRef("link", 1), PageRef("link", 2)


class _Timer:
    def __init__(self, at: float, work: Callable[[], None]) -> None:
        self.at = at
        self.work = work
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class _World:
    """Ways under a clock that only we move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.late: list[tuple[str, set[PageRef]]] = []
        self._timers: list[_Timer] = []
        self.ways = Ways(lambda name, pages: self.late.append((name, pages)), self._later)

    def _later(self, seconds: float, work: Callable[[], None]) -> _Timer:
        self._timers.append(timer := _Timer(self.now + seconds, work))
        return timer

    def wait(self, seconds: float) -> None:
        self.now += seconds
        due = [one for one in self._timers if one.at <= self.now and not one.is_cancelled]
        self._timers = [one for one in self._timers if one.at > self.now]
        for timer in due:
            timer.work()


@pytest.fixture
def world() -> _World:
    return _World()


def test_pages_that_do_not_come_back_with_their_way_are_late(world: _World) -> None:
    world.ways.back("link", MemoryTransport(), set())
    world.ways.gone("link", {ONE, TWO})
    assert world.ways.find("link") is None
    world.wait(GONE_SECONDS - 1)
    world.ways.back("link", transport := MemoryTransport(), set())
    world.ways.came(ONE)
    assert world.ways.find("link") is transport and world.late == []
    world.wait(BACK_SECONDS)
    assert world.late == [("link", {TWO})]


def test_a_way_that_stays_away_loses_its_pages_once(world: _World) -> None:
    world.ways.back("link", MemoryTransport(), set())
    world.ways.gone("link", {ONE})
    world.wait(GONE_SECONDS)
    world.wait(GONE_SECONDS)
    assert world.late == [("link", {ONE})]


def test_a_way_that_drops_soon_after_it_came_keeps_its_pages_as_long_as_any(world: _World) -> None:
    world.ways.back("link", MemoryTransport(), set())
    world.wait(BACK_SECONDS - 1)
    world.ways.gone("link", {ONE})
    world.wait(GONE_SECONDS - 1)
    assert world.late == []
    world.ways.back("link", MemoryTransport(), set())
    world.wait(BACK_SECONDS - 1)
    world.ways.gone("link", {ONE})
    world.wait(GONE_SECONDS - 1)
    assert world.late == []
    world.wait(1)
    assert world.late == [("link", {ONE})]


def test_a_newer_connection_of_the_same_browser_takes_the_place_of_the_old(world: _World) -> None:
    world.ways.back("link", MemoryTransport(), set())
    world.ways.back("link", newer := MemoryTransport(), {ONE, TWO})
    world.ways.came(TWO)
    world.wait(BACK_SECONDS)
    assert world.ways.find("link") is newer and world.late == [("link", {ONE})]
