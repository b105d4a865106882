"""Which calls a grant covers, and when it ends."""

from typing import Any

import msgspec
import pytest

from tabhub.permissions.grants import (
    SCOPES,
    SITE_SCOPES,
    Grant,
    Grants,
    Scope,
    new_grant,
    possible_scopes,
)
from tabhub.permissions.verdict import Subject
from tests.permissions.samples import CLICK, NOW, call


def _covers(grant: Grant, subject: Subject, now: float = NOW) -> bool:
    grants = Grants()
    grants.add(grant)
    return grants.matching(subject, now) == grant


@pytest.mark.parametrize("scope", SCOPES)
def test_a_grant_covers_the_call_it_was_given_for(scope: Scope) -> None:
    assert _covers(new_grant(CLICK, scope, NOW, None), CLICK)


@pytest.mark.parametrize(
    ("changes", "covered_by"),
    [
        ({"tool": "browser_type_text"}, {"site_session", "site"}),
        ({"tool": "browser_type_text", "session": "s2"}, {"site"}),
        ({"tool": "browser_type_text", "site": "bank.example"}, set()),
        ({"tool": "website_tool_buy", "page": ("shop.example", "buy")}, {"site_session", "site"}),
        ({"tool": "browser_execute_script", "for_site": False}, set()),
        ({"tool": "website_tool_pay", "careful": True, "for_site": False}, set()),
        ({"client": "other"}, set()),
        ({"session": "s2"}, {"domain", "always", "site"}),
        ({"site": "bank.example"}, {"always"}),
        ({"site": ""}, {"always"}),
        ({"site": "shop.example:8080"}, {"always"}),
        ({"session": "s2", "site": "bank.example"}, {"always"}),
        ({"arguments": {"ref": "e1"}}, {*SCOPES}),
    ],
)
def test_a_grant_covers_no_more_than_its_scope(
    changes: dict[str, Any], covered_by: set[str]
) -> None:
    other = call(**changes)
    assert {s for s in SCOPES if _covers(new_grant(CLICK, s, NOW, None), other)} == covered_by


@pytest.mark.parametrize("site", ["", "opaque"])
def test_without_a_site_a_grant_for_the_domain_holds_for_the_session(site: str) -> None:
    subject = call(site=site)
    grant = new_grant(subject, "domain", NOW, None)
    assert grant.scope == "session"
    assert _covers(grant, subject)
    assert not _covers(grant, call(subject, session="s2"))


@pytest.mark.parametrize(
    ("changes", "scopes"),
    [
        ({}, ["session", "domain", "always", "site_session", "site"]),
        ({"for_site": False}, ["session", "domain", "always"]),
        ({"site_bound": True}, ["session", "domain", "site_session", "site"]),
        ({"site_bound": True, "for_site": False}, ["session", "domain"]),
        ({"site": ""}, ["session", "always"]),
        ({"site": "opaque", "site_bound": True}, ["session"]),
    ],
)
def test_a_scope_that_is_not_possible_becomes_a_narrower_one(
    changes: dict[str, Any], scopes: list[Scope]
) -> None:
    subject = call(**changes)
    assert possible_scopes(subject) == scopes
    given = {scope: new_grant(subject, scope, NOW, None) for scope in SCOPES}
    assert {grant.scope for grant in given.values()} == {*scopes}
    others = call(subject, tool="browser_type_text")
    for scope, grant in given.items():
        lasts = grant.session is None
        assert not lasts or scope in ("domain", "always", "site")
        assert not _covers(grant, others) or scope in ("site_session", "site")


def test_a_grant_for_a_site_names_no_tool_and_ends_with_its_session() -> None:
    grants = Grants()
    for_session, for_good = (new_grant(CLICK, scope, NOW, None) for scope in SITE_SCOPES)
    grants.add(for_session)
    grants.add(for_good)
    assert (for_session.tool, for_session.session) == ("*", "s1")
    assert (for_good.tool, for_good.session) == ("*", None)
    grants.end_session("s1")
    assert grants.all() == [for_good]


def test_an_opaque_page_is_no_site_for_a_grant() -> None:
    grant = msgspec.structs.replace(new_grant(CLICK, "site", NOW, None), site="opaque")
    assert not _covers(grant, call(site="opaque"))


@pytest.mark.parametrize("scope", SCOPES)
def test_a_grant_ends_at_its_time(scope: Scope) -> None:
    grant = new_grant(CLICK, scope, NOW, 60)
    assert _covers(grant, CLICK, NOW + 59.9)
    assert not _covers(grant, CLICK, NOW + 60)


def test_a_wider_grant_counts_when_the_narrower_one_has_ended() -> None:
    grants = Grants()
    narrow, wide = new_grant(CLICK, "session", NOW, 60), new_grant(CLICK, "always", NOW, None)
    grants.add(narrow)
    grants.add(wide)
    assert grants.matching(CLICK, NOW) == narrow
    assert grants.matching(CLICK, NOW + 60) == wide


def test_an_expired_grant_is_reported_once() -> None:
    grants = Grants()
    short, long = new_grant(CLICK, "session", NOW, 60), new_grant(CLICK, "domain", NOW, 90)
    grants.add(short)
    grants.add(long)
    assert grants.drop_expired(NOW + 60) == [short]
    assert grants.drop_expired(NOW + 60) == []
    assert grants.all() == [long]


def test_the_end_of_a_session_ends_its_own_grants_only() -> None:
    grants = Grants()
    kept = [new_grant(call(session="s2"), "session", NOW, None)]
    kept += [new_grant(CLICK, "domain", NOW, None), new_grant(CLICK, "always", NOW, None)]
    for grant in (new_grant(CLICK, "session", NOW, None), *kept):
        grants.add(grant)
    grants.end_session("s1")
    assert grants.all() == kept


def test_a_later_grant_for_the_same_call_replaces_the_earlier_one() -> None:
    grants = Grants()
    first, second = (new_grant(CLICK, "always", NOW, seconds) for seconds in (None, 60))
    grants.add(first)
    grants.add(second)
    assert grants.all() == [second]
    assert not grants.remove(first.id)
    assert grants.matching(CLICK, NOW) == second


def test_a_removed_grant_covers_nothing() -> None:
    grants = Grants()
    grant = new_grant(CLICK, "always", NOW, None)
    grants.add(grant)
    assert grants.remove(grant.id)
    assert not grants.remove(grant.id)
    assert grants.matching(CLICK, NOW) is None


def test_a_grant_read_back_from_a_store_covers_the_same_calls() -> None:
    """None and an empty string both mean no site."""
    blank = call(site="")
    grant = Grant("g1", "session", CLICK.tool, CLICK.client, "s1", None, None, NOW)
    assert _covers(grant, blank)
    assert not _covers(grant, CLICK)


def test_ids_differ() -> None:
    assert len({new_grant(CLICK, "always", NOW, None).id for _ in range(100)}) == 100
