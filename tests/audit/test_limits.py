"""The budget of bytes that each client has in the audit log."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tabhub.audit.limits import (
    DAY_SECONDS,
    FOLD_SECONDS_OVER_BUDGET,
    GRAIN_SECONDS,
    HELD_BYTES,
    UNFOLDED_OF_SITE,
    Budget,
    payer_of,
)
from tabhub.audit.log import AuditLog
from tabhub.config.settings import AuditSettings
from tabhub.errors import NotFound, Unavailable
from tests.audit.events import event, written

MOST = 20 * HELD_BYTES


class Clock:
    def __init__(self) -> None:
        self.now = 10_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_client_is_refused_until_a_day_has_passed_and_others_are_not() -> None:
    clock = Clock()
    budget = Budget(lambda: MOST, clock)
    budget.add("ann", MOST - HELD_BYTES)
    budget.room("ann")
    budget.add("ann", 1)
    with pytest.raises(Unavailable) as refusal:
        budget.room("ann")
    budget.room("bob")
    wait = refusal.value.extra["retryAfterMs"] / 1000
    assert DAY_SECONDS < wait <= DAY_SECONDS + GRAIN_SECONDS + 1
    assert (refusal.value.reason, refusal.value.effect) == ("rate_limited", "none")
    clock.now += wait - 2
    assert budget.is_over("ann")
    clock.now += 2
    assert not budget.is_over("ann")
    budget.room("ann")


def test_running_calls_hold_what_they_may_still_write() -> None:
    budget = Budget(lambda: MOST, Clock())
    rooms = []
    for _ in range(20):
        rooms.append(budget.room("ann"))
        rooms[-1].__enter__()
    with pytest.raises(Unavailable) as refusal:
        budget.room("ann")
    assert refusal.value.reason == "too_many_calls"
    rooms[0].__exit__(None, None, None)
    budget.room("ann")


def test_the_limit_can_change_and_zero_means_none() -> None:
    most = MOST
    budget = Budget(lambda: most, Clock())
    budget.add("ann", MOST)
    assert budget.is_over("ann")
    most = 2 * MOST
    assert not budget.is_over("ann")
    budget.add("ann", 1000 * MOST)
    assert budget.is_over("ann")
    most = 0
    assert not budget.is_over("ann")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"


def _over(path: Path, client: str = "ann") -> AuditLog:
    """A log in which one client is over its budget."""
    log = AuditLog(path, AuditSettings(client_bytes_per_day=100_000))
    sites = (f"site-{number}.example" for number in count())
    filling = event(client=client, session="" if client == "page" else "s")
    while not log._budget.is_over(payer_of(filling)):
        log.record(replace(filling, plugin=next(sites)))
    return log


def _refused(**more: Any) -> Any:
    return event(**{"client": "ann", "error": NotFound("no", "unknown_tool"), **more})


def test_beyond_its_budget_one_refusal_an_hour_is_written_and_the_rest_is_counted(
    path: Path,
) -> None:
    log = _over(path)
    before = len(written(path))
    for _ in range(500):
        log.record(_refused())
    assert len(written(path)) == before + 1
    log.record(_refused(time=event().time + FOLD_SECONDS_OVER_BUDGET))
    assert [entry.get("times") for entry in written(path)[before:]] == [None, 499, None]


def test_beyond_its_budget_what_had_an_effect_is_written(path: Path) -> None:
    log = _over(path)
    before = len(written(path))
    for number in range(20):
        log.begin(event(client="ann", call=f"1-a-{number}"))
        log.record(event(client="ann", call=f"1-a-{number}"))
        log.record(event(client="ann"))
        log.record(_refused(call=f"1-b-{number}"))
    assert len(written(path)) == before + 60


def test_pages_cannot_be_refused_but_fill_nothing_either(path: Path) -> None:
    log = _over(path, "page")
    before = len(written(path))
    for _ in range(500):
        log.record(event(client="page", session="", tool="browser/register"))
    assert len(written(path)) == before + 1
    log.close()
    assert written(path)[-1]["times"] == 499


@pytest.mark.document("MB-security-folded")
def test_registrations_of_one_site_are_folded_and_none_is_lost(path: Path) -> None:
    log = AuditLog(path, AuditSettings())
    for number in range(40):
        what = "browser/registerTools" if number % 2 else "browser/unregisterTools"
        log.record(event(client="page", session="", plugin="shop.example", tool=what))
    log.record(event(client="page", session="", plugin="bank.example"))
    log.close()
    shop = [entry for entry in written(path) if entry["plugin"] == "shop.example"]
    assert len(written(path)) == len(shop) + 1 and len(shop) == UNFOLDED_OF_SITE + 2
    assert [entry["times"] for entry in shop if "times" in entry] == [15, 15]


def test_a_client_that_is_called_page_does_not_pay_for_pages(path: Path) -> None:
    log = _over(path, "page")
    with log.room("page"):
        pass
    log.close()


def test_what_the_person_does_is_always_written(path: Path) -> None:
    log = AuditLog(path, AuditSettings(client_bytes_per_day=100_000))
    for _ in range(1000):
        log.record(event(client="main", session="", plugin="panel"))
    assert len(written(path)) == 1000
