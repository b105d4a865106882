"""Pairing: when an enrolment is open, and how long the server waits for a page."""

import time
from collections.abc import Callable

import pytest

from tabhub.config.settings import Settings
from tabhub.page_tools import admission
from tabhub.page_tools.pairing import ENROLMENT_SECONDS, Pairing
from tabhub.store.active_rules import ActiveRules
from tabhub.store.store import Store
from tests.support.browsers.worker import SHOP, connecting
from tests.support.serving import served


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def _pairing(
    allowed: list[str], store: Store | None = None, clock: Callable[[], float] = time.monotonic
) -> Pairing:
    kept = store or Store(None)
    rules = ActiveRules(None, Settings(), kept, skip=False)
    return Pairing(None, allowed, kept, rules, clock)


def test_an_enrolment_closes_after_two_minutes() -> None:
    clock = Clock()
    pairing = _pairing([], clock=clock)
    assert pairing.confirm(SHOP, None) is None
    clock.now = ENROLMENT_SECONDS - 1
    assert pairing.enrol(SHOP) is not None
    assert pairing.enrol(SHOP) is None
    pairing.confirm(SHOP, None)
    clock.now += ENROLMENT_SECONDS
    assert pairing.enrol(SHOP) is None


def test_an_enrolment_closes_when_its_origin_is_forgotten() -> None:
    pairing = _pairing([])
    pairing.confirm(SHOP, None)
    pairing.take([])
    pairing.take([SHOP])
    assert pairing.enrol(SHOP) is None


def test_tokens_of_origins_disallowed_while_no_server_ran_are_revoked() -> None:
    store = Store(None)
    pairing = _pairing([], store)
    pairing.confirm(SHOP, None)
    paired = pairing.enrol(SHOP)
    assert paired is not None and _pairing([SHOP], store).find(SHOP, paired.id) is not None
    _pairing([], store)
    assert _pairing([SHOP], store).find(SHOP, paired.id) is None


async def test_a_page_that_says_nothing_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MESSAGE_SECONDS", 0.05)
    async with served() as server, connecting(server.port, hello=False) as page:
        code, reason = await page.closed()
    assert code == 4003 and reason is not None and "pagekit may be older" in reason


async def test_a_page_does_not_wait_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "PAIRING_SECONDS", 0.05)
    async with served() as server, connecting(server.port) as page:
        assert (await page.next())["method"] == "page/unpaired"
        assert (await page.closed())[0] == 4003
        assert server.app.pairing.waiting() == []


async def test_a_denied_origin_can_still_be_allowed() -> None:
    async with served() as server:
        async with connecting(server.port) as page:
            code = (await page.next())["params"]["code"]
            server.app.pairing.decide(SHOP, code, False)
            assert (await page.closed())[0] == 4003
        server.app.pairing.confirm(SHOP, None)
        async with connecting(server.port) as page, connecting(server.port) as other:
            assert (await page.next())["method"] == "page/paired"
            assert (await other.next())["method"] == "page/unpaired"
