"""Properties of every policy, config, grant, hint and call."""

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tabhub.permissions.decide import Permissions
from tabhub.permissions.grants import Grant, Grants
from tabhub.permissions.verdict import Allow, Ask, Deny, Subject, Verdict
from tests.permissions.samples import NOW, STRICTNESS, permissions
from tests.permissions.worlds import (
    CALLS,
    GRANTS,
    SESSIONS,
    WORLDS,
    Levels,
    World,
    covers,
    judge,
    stricter,
)


def _permissions(world: World) -> Permissions:
    return permissions(world.toml(), world.config, world.grants, world.skip)


def _decide(world: World, call: Subject) -> Verdict:
    return _permissions(world).decide(call, NOW)


def _kept(grants: tuple[Grant, ...]) -> list[Grant]:
    """The grants without those that a later one replaces."""
    collected = Grants()
    for grant in grants:
        collected.add(grant)
    return collected.all()


@given(WORLDS, CALLS)
def test_a_decision_agrees_with_the_simple_model_of_the_rules(world: World, call: Subject) -> None:
    level = judge(world, call)
    granted = any(covers(world, grant, call) for grant in _kept(world.grants))
    expected = {"off": Deny, "ask": Allow if granted or world.skip else Ask, "auto": Allow}
    assert isinstance(_decide(world, call), expected[level])


STEPS = st.one_of(
    GRANTS.map(lambda grant: ("add", grant)),
    st.sampled_from([("end", session) for session in SESSIONS]),
    st.sampled_from([("expire", NOW), ("skip", True), ("skip", False), ("remove", 0)]),
)


@given(WORLDS, st.lists(STEPS, max_size=8), CALLS)
def test_no_sequence_of_grants_and_skipping_enables_a_disabled_tool(
    world: World, steps: list[tuple[str, object]], call: Subject
) -> None:
    permissions = _permissions(world)
    for step in steps:
        _take(permissions, step)
        verdict = permissions.decide(call, NOW)
        assert isinstance(verdict, Deny) == (judge(world, call) == "off")


def _take(permissions: Permissions, step: tuple[str, object]) -> None:
    grants = permissions.grants
    match step:
        case "add", Grant() as grant:
            grants.add(grant)
        case "end", str(session):
            grants.end_session(session)
        case "expire", float(now):
            grants.drop_expired(now)
        case "skip", bool(skip):
            permissions.skip = skip
        case "remove", int(index):
            for grant in grants.all()[index : index + 1]:
                grants.remove(grant.id)


@given(WORLDS, CALLS, st.data())
def test_a_stricter_rule_never_allows_more(
    world: World, call: Subject, data: st.DataObject
) -> None:
    before = _decide(world, call)
    after = _decide(stricter(world, data), call)
    assert STRICTNESS.index(type(after)) <= STRICTNESS.index(type(before))


@given(WORLDS, CALLS)
def test_a_verdict_names_a_rule_that_exists(world: World, call: Subject) -> None:
    rule = _decide(world, call).rule
    match rule.source:
        case "policy":
            assert rule.text in _written(world)
        case "config":
            assert rule.text in _levels("permissions.", world.config, "config.json")
        case "grant":
            assert any(
                grant.id in rule.text for grant in world.grants if covers(world, grant, call)
            )
        case "client":
            assert call.client in rule.text
        case "hint":
            assert call.careful
        case "skip":
            assert world.skip
        case "default":
            assert rule.text.startswith("default of ")


def _written(world: World) -> set[str]:
    walls = {f"sites.deny has {host} (policy.toml)" for host in world.deny}
    if world.allow:
        walls.add("sites.allow (policy.toml)")
    conditions = {
        f"conditions[{index}].one_of of to, otherwise = {otherwise} (policy.toml)"
        for index, (_, otherwise) in enumerate(world.conditions)
    }
    return walls | conditions | _levels("", world.policy, "policy.toml")


def _levels(before: str, sections: dict[str, Levels], file: str) -> set[str]:
    return {
        f"{before}{section}.{json.dumps(key) if '.' in key else key} = {word} ({file})"
        for section, levels in sections.items()
        for key, word in levels.items()
    }


@given(WORLDS, CALLS, st.sampled_from(["not reviewed", "changed"]))
def test_no_rules_grants_or_skipping_open_what_the_person_has_not_reviewed(
    world: World, call: Subject, why: str
) -> None:
    verdict = _decide(world, replace(call, gate=why))
    assert isinstance(verdict, Deny)
    assert (verdict.rule.source, verdict.reason) == ("review", "permission_off")


@given(WORLDS, CALLS)
def test_a_reviewed_tool_is_decided_like_any_other_plugin(world: World, call: Subject) -> None:
    of_plugin = replace(call, source="plugin")
    reviewed = replace(call, source="another name", gate="")
    assert type(_decide(world, reviewed)) is type(_decide(world, of_plugin))
