"""Which tools of a site stay remembered without a tab, and which are dropped."""

import time

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tabhub.page_tools.core.memory import Bounds, Remembered, ToolKey, ToolMemory
from tabhub.page_tools.core.storage import Published
from tests.page_tools.core.machine import Machine
from tests.page_tools.core.pages import hub, page, published
from tests.support.examples import examples

FEW = Bounds(domain_tools=3, domain_bytes=600, tools=7, bytes=1300)
DOMAINS = tuple(f"{name}.example" for name in "abcd")


def _kept(domain: str, name: str, size: int = 10) -> Remembered:
    tool = Published(name, "", b"x" * size, cached=True)
    return Remembered(domain, tool, f"https://{domain}/", f"https://{domain}", time.time())


def _names(memory: ToolMemory, domain: str) -> list[str]:
    return [kept.tool.name for kept in memory if kept.domain == domain]


def test_the_oldest_tool_of_a_site_is_dropped_first_and_other_sites_keep_theirs() -> None:
    memory = ToolMemory(FEW)
    memory.keep(_kept("bank.example", "pay"))
    dropped = [key for n in range(6) for key in memory.keep(_kept("evil.example", f"t{n}"))]
    assert dropped == [("evil.example", f"t{n}") for n in range(3)]
    assert _names(memory, "evil.example") == ["t3", "t4", "t5"]
    assert _names(memory, "bank.example") == ["pay"] and memory.trim() == []


def test_a_tool_kept_again_is_the_newest() -> None:
    memory = ToolMemory(FEW)
    for name in ("a", "b", "c", "a", "d"):
        memory.keep(_kept("shop.example", name))
    assert _names(memory, "shop.example") == ["c", "a", "d"]


def test_the_tools_of_a_site_are_limited_in_bytes() -> None:
    memory = ToolMemory(FEW)
    assert memory.keep(_kept("shop.example", "a", 400)) == []
    assert memory.keep(_kept("shop.example", "b", 400)) == [("shop.example", "a")]
    assert memory.keep(_kept("shop.example", "c", 4000)) == [
        ("shop.example", "b"),
        ("shop.example", "c"),
    ]
    assert len(memory) == 0


def test_a_full_memory_drops_from_the_largest_site_first() -> None:
    memory = ToolMemory(FEW)
    for domain, count in zip(DOMAINS, (1, 2, 3, 3), strict=True):
        for n in range(count):
            memory.keep(_kept(domain, f"t{n}"))
    assert memory.trim() == [("c.example", "t0"), ("d.example", "t0")]
    for domain in DOMAINS:
        memory.keep(_kept(domain, "fat", 450))
    assert {domain for domain, _ in memory.trim()} <= {*DOMAINS}
    assert sum(len(kept.tool.schema) for kept in memory) <= 1300


class MemoryMachine(RuleBasedStateMachine):
    """The sums are right and the bounds hold after any sequence of keeping and dropping."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = ToolMemory(FEW)
        self.model: dict[ToolKey, Remembered] = {}
        self.written: dict[ToolKey, Remembered] = {}

    @rule(
        domain=st.sampled_from(DOMAINS),
        name=st.sampled_from("pqrstu"),
        size=st.integers(0, 700),
    )
    def keep(self, domain: str, name: str, size: int) -> None:
        kept = _kept(domain, name, size)
        self.model[domain, name] = kept
        dropped = [*self.memory.keep(kept)]
        assert {site for site, _ in dropped} <= {domain}
        for key in (*dropped, *self.memory.trim()):
            del self.model[key]

    @rule(domain=st.sampled_from(DOMAINS), name=st.sampled_from("pqrstu"))
    def drop(self, domain: str, name: str) -> None:
        self.memory.drop(domain, name)
        self.model.pop((domain, name), None)

    @rule()
    def write(self) -> None:
        for key in self.memory.take_changes():
            kept = self.memory.find(*key)
            if kept is None:
                self.written.pop(key, None)
            else:
                self.written[key] = kept
        assert self.written == self.model

    @invariant()
    def it_is_what_was_kept(self) -> None:
        assert {(kept.domain, kept.tool.name): kept for kept in self.memory} == self.model
        assert len(self.memory) == len(self.model) <= FEW.tools
        for domain in DOMAINS:
            mine = [kept for kept in self.memory if kept.domain == domain]
            assert len(mine) <= FEW.domain_tools
            assert sum(len(kept.tool.schema) for kept in mine) <= FEW.domain_bytes


TestMemory = MemoryMachine.TestCase
TestMemory.settings = examples(60)


class Crowded(Machine):
    """The hub with very little memory for tools without a tab."""

    def __init__(self) -> None:
        super().__init__()
        self.hub.pages.listing.memory = ToolMemory(FEW._replace(domain_tools=2, tools=3))


TestCrowded = pytest.mark.requirement("MB-09")(Crowded.TestCase)
TestCrowded.settings = examples(80, stateful_step_count=30)


@pytest.mark.requirement("MB-09")
def test_a_site_with_many_cached_tools_does_not_push_out_those_of_others() -> None:
    made = hub()
    made.pages.register(page(1, published("pay", cached=True), domain="bank.example"))
    made.pages.closed(1)
    for tab in range(2, 30):
        many = [published(f"s{tab}_{n}", cached=True) for n in range(500)]
        made.pages.register(page(tab, *many, domain="evil.example"))
        made.pages.closed(tab)
    listed = [tool.site for tool in made.tools]
    assert listed.count("evil.example") == 200 and "bank.example" in listed
