"""A list of tools costs no more than a list is worth, however much of it is unfit."""

import logging

import msgspec
import pytest

from tabhub.config.settings import Limits
from tabhub.page_tools.core.storage import Published
from tabhub.page_tools.flood_limits import FAULTS_IN_ALL, FAULTS_OF_ONE, SECONDS, FaultLog
from tabhub.page_tools.intake import MOST_PLACES, MOST_REFUSED, Intake, checked
from tests.support.browsers.extension import page_tool

LIMITS = Limits(tools_per_tab=500, schema_bytes=100_000)
ROOM = 8 * LIMITS.schema_bytes


class List:
    """One list taken in, and what it took."""

    def __init__(self, tools: list[msgspec.Raw]) -> None:
        self.looked_at = 0
        self.faults: list[str] = []
        intake = Intake(LIMITS, LIMITS.tools_per_tab, ROOM, self.faults.append)
        self.taken = intake.take(tools, self._checked)

    def _checked(self, raw: msgspec.Raw) -> Published:
        self.looked_at += 1
        return checked(raw, "worker", LIMITS, False)


def _raw(tool: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(tool))


@pytest.mark.parametrize(
    "unfit",
    [
        {"name": "!"},
        page_tool("twice"),
        page_tool("a", inputSchema={"$ref": "https://evil.example/"}),
    ],
)
def test_after_fifty_unfit_tools_the_rest_is_refused_unread_and_counted(unfit: object) -> None:
    told = List([_raw(page_tool("twice")), *[_raw(unfit)] * 100_000, _raw(page_tool("late"))])
    assert {*told.taken} == {"twice"}
    assert told.looked_at == MOST_REFUSED + 1
    assert (
        told.faults[-1] == f"50 tools are unfit; {100_001 - MOST_REFUSED} more are refused unread"
    )


def test_what_is_refused_counts_in_bytes_too() -> None:
    large = _raw(page_tool("!", description="x" * 90_000))
    told = List([*[large] * 20, _raw(page_tool("late"))])
    assert told.looked_at == ROOM // len(large) + 1
    assert told.taken == {} and told.faults[-1] == "the tools of a tab are too large together"


@pytest.mark.parametrize("more", [[], [{"$ref": "x"}]])
def test_dense_definitions_count_by_their_values(more: list[object]) -> None:
    schema = {"properties": {"a": {"default": [0] * 19_000, "anyOf": [{}, *more]}}}
    told = List([_raw(page_tool(f"t{number}", inputSchema=schema)) for number in range(40)])
    assert told.looked_at == MOST_PLACES // 19_000
    assert told.faults[-1] == "the tools of a tab are too large together"


def test_each_fault_is_told_once_a_minute_and_so_many_of_a_site_and_of_all(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = 0.0
    fault_log = FaultLog(lambda: now)

    def said(domain: str) -> int:
        return sum(fault_log.add(domain, f"fault {n % 500}") for n in range(1000))

    with caplog.at_level(logging.CRITICAL):
        assert said("a.example") == FAULTS_OF_ONE
        assert said("b.example") == FAULTS_OF_ONE
        others = sum(said(f"{n}.example") for n in range(100))
        assert others == FAULTS_IN_ALL - 2 * FAULTS_OF_ONE
        now = SECONDS
        assert said("a.example") == FAULTS_OF_ONE
