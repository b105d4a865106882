"""A transport disconnects and reconnects; its pages stay registered for a while."""

from collections.abc import Callable

import pytest

from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.transports import BACK_SECONDS, GONE_SECONDS, PageTransports
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
    """Transports under a clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.expired: list[tuple[str, set[PageRef]]] = []
        self._timers: list[_Timer] = []
        self.transports = PageTransports(
            lambda name, pages: self.expired.append((name, pages)), self._later
        )

    def _later(self, seconds: float, work: Callable[[], None]) -> _Timer:
        self._timers.append(timer := _Timer(self.now + seconds, work))
        return timer

    def wait(self, seconds: float) -> None:
        self.now += seconds
        due = [timer for timer in self._timers if timer.at <= self.now and not timer.is_cancelled]
        self._timers = [timer for timer in self._timers if timer.at > self.now]
        for timer in due:
            timer.work()


@pytest.fixture
def world() -> _World:
    return _World()


@pytest.mark.document("MB-notes-2")
def test_pages_that_do_not_register_again_with_their_transport_expire(world: _World) -> None:
    world.transports.connected("link", MemoryTransport(), set())
    world.transports.disconnected("link", {ONE, TWO})
    assert world.transports.find("link") is None
    world.wait(GONE_SECONDS - 1)
    world.transports.connected("link", transport := MemoryTransport(), set())
    world.transports.registered(ONE)
    assert world.transports.find("link") is transport and world.expired == []
    world.wait(BACK_SECONDS)
    assert world.expired == [("link", {TWO})]


@pytest.mark.document("MB-disconnect-9")
def test_a_transport_that_stays_disconnected_loses_its_pages_once(world: _World) -> None:
    world.transports.connected("link", MemoryTransport(), set())
    world.transports.disconnected("link", {ONE})
    world.wait(GONE_SECONDS)
    world.wait(GONE_SECONDS)
    assert world.expired == [("link", {ONE})]


def test_a_transport_that_drops_soon_after_it_connected_keeps_its_pages_as_long(
    world: _World,
) -> None:
    world.transports.connected("link", MemoryTransport(), set())
    world.wait(BACK_SECONDS - 1)
    world.transports.disconnected("link", {ONE})
    world.wait(GONE_SECONDS - 1)
    assert world.expired == []
    world.transports.connected("link", MemoryTransport(), set())
    world.wait(BACK_SECONDS - 1)
    world.transports.disconnected("link", {ONE})
    world.wait(GONE_SECONDS - 1)
    assert world.expired == []
    world.wait(1)
    assert world.expired == [("link", {ONE})]


def test_a_newer_connection_of_the_same_browser_replaces_the_old_one(world: _World) -> None:
    world.transports.connected("link", MemoryTransport(), set())
    world.transports.connected("link", newer := MemoryTransport(), {ONE, TWO})
    world.transports.registered(TWO)
    world.wait(BACK_SECONDS)
    assert world.transports.find("link") is newer and world.expired == [("link", {ONE})]
