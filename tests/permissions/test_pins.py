"""Which site's tool a rule by name applies to, when other sites use the same name."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tabhub.permissions.decide import Permissions
from tabhub.permissions.grants import Grant, Grants, Scope, new_grant
from tabhub.permissions.policy.policy import parse
from tabhub.permissions.rules import Pins, RuleBook
from tabhub.permissions.verdict import PageTool, Subject
from tests.permissions.samples import NOW, STRICTNESS, call, config
from tests.permissions.worlds import CALLS, TOOLS, WORLDS, World

UK: PageTool = ("shop.co.uk", "pay")
THIEF: PageTool = ("shop.co", "uk_pay")


def _of_page(subject: Subject, page: PageTool, tool: str, plain: str) -> Subject:
    # Rules of toolsets and site limits are not tested here.
    own: dict[str, Any] = {"source": "pages", "plugin": "", "site": page[0], "site_bound": True}
    return msgspec.structs.replace(
        subject, tool=tool, plain=plain, page=page, same_as=(tool, plain), **own
    )


def _strictness(world: World, subject: Subject, pins: Pins) -> int:
    book = RuleBook(parse(world.toml(), "policy.toml"), config(world.config), pins)
    return STRICTNESS.index(type(Permissions(book, Grants()).decide(subject, NOW)))


def _without(world: World, *names: str) -> World:
    def cleared(levels: dict[str, Any]) -> dict[str, Any]:
        kept = {name: word for name, word in levels["tools"].items() if name not in names}
        return {**levels, "tools": kept}

    return replace(world, policy=cleared(world.policy), config=cleared(world.config))


@given(WORLDS, CALLS, st.sampled_from(TOOLS), st.sampled_from(TOOLS))
def test_a_rule_by_name_never_allows_more_to_another_tool(
    world: World, subject: Subject, listed: str, plain: str
) -> None:
    pins = Pins()
    pins.want(TOOLS, lambda name: UK)
    thief = _of_page(subject, THIEF, listed, plain)
    alone = _strictness(_without(world, listed, plain), thief, pins)
    assert _strictness(world, thief, pins) <= alone
    unpinned = _strictness(world, thief, Pins())
    assert unpinned <= alone


@given(WORLDS, CALLS, st.sampled_from(TOOLS), st.sampled_from(TOOLS))
def test_a_rule_that_forbids_either_name_forbids_all_tools_of_that_name(
    world: World, subject: Subject, listed: str, plain: str
) -> None:
    pins = Pins()
    pins.want(TOOLS, lambda name: UK)
    words = [
        levels["tools"][name]
        for levels in (world.policy, world.config)
        for name in (listed, plain)
        if name in levels["tools"]
    ]
    for page in (UK, THIEF):
        strictness = _strictness(world, _of_page(subject, page, listed, plain), pins)
        assert "off" not in words or strictness == 0
        assert "ask" not in words or strictness <= 1


class PinMachine(RuleBasedStateMachine):
    """Rules and tools change; the first tool of a name owns it while a rule names it."""

    def __init__(self) -> None:
        super().__init__()
        self.pins = Pins()
        self.ruled: frozenset[str] = frozenset()
        self.listed: dict[str, PageTool] = {}
        self.model: dict[str, PageTool] = {}

    @rule(names=st.frozensets(st.sampled_from(TOOLS)))
    def rules_change(self, names: frozenset[str]) -> None:
        self.pins.want(names, self.listed.get)
        self.ruled = names
        kept = {name: tool for name, tool in self.model.items() if name in names}
        self.model = {**{n: t for n, t in self.listed.items() if n in names}, **kept}

    @rule(name=st.sampled_from(TOOLS), tool=st.sampled_from([UK, THIEF]))
    def a_tool_is_added(self, name: str, tool: PageTool) -> None:
        self.listed[name] = tool
        owner = self.pins.meet(name, tool)
        if name in self.ruled:
            self.model.setdefault(name, tool)
        assert owner == self.model.get(name)

    @rule(name=st.sampled_from(TOOLS))
    def a_tool_is_removed(self, name: str) -> None:
        self.listed.pop(name, None)

    @invariant()
    def each_name_belongs_to_its_first_tool(self) -> None:
        assert {name: self.pins.of(name) for name in TOOLS if self.pins.of(name)} == self.model


TestPinMachine = PinMachine.TestCase


@pytest.mark.parametrize("scope", ["session", "domain", "always"])
def test_a_grant_covers_the_tool_of_one_site_under_all_its_names_and_no_other(
    scope: Scope,
) -> None:
    granted = _of_page(call(), UK, "listed", "plain")
    grants = Grants()
    grant = new_grant(granted, scope, NOW, None)
    grants.add(grant)
    assert grant.site == "shop.co.uk"
    assert grants.matching(granted, NOW) == grant
    assert grants.matching(_of_page(call(), UK, "tab2_listed", "plain"), NOW) == grant
    assert grants.matching(_of_page(call(), THIEF, "listed", "plain"), NOW) is None
    assert grants.matching(_of_page(call(), ("shop.co.uk", "p.ay"), "listed", "plain"), NOW) is None
    old = Grant("old", "always", "plain", "claude", None, None, None, NOW)
    grants.remove(grant.id)
    grants.add(old)
    assert grants.matching(granted, NOW) is None
