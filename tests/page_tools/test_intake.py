"""The cost of a list of tools is bounded, however many of them are invalid."""

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
    """One list of tools after its intake, and the work that took."""

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
def test_after_fifty_invalid_tools_the_rest_is_refused_unread_and_counted(unfit: object) -> None:
    tools = List([_raw(page_tool("twice")), *[_raw(unfit)] * 100_000, _raw(page_tool("late"))])
    assert {*tools.taken} == {"twice"}
    assert tools.looked_at == MOST_REFUSED + 1
    assert (
        tools.faults[-1] == f"50 tools are unfit; {100_001 - MOST_REFUSED} more are refused unread"
    )


def test_refused_tools_count_in_bytes_too() -> None:
    large = _raw(page_tool("!", description="x" * 90_000))
    tools = List([*[large] * 20, _raw(page_tool("late"))])
    assert tools.looked_at == ROOM // len(large) + 1
    assert tools.taken == {} and tools.faults[-1] == "the tools of a tab are too large together"


@pytest.mark.parametrize("more", [[], [{"$ref": "x"}]])
def test_dense_definitions_count_by_their_values(more: list[object]) -> None:
    schema = {"properties": {"a": {"default": [0] * 19_000, "anyOf": [{}, *more]}}}
    tools = List([_raw(page_tool(f"t{number}", inputSchema=schema)) for number in range(40)])
    assert tools.looked_at == MOST_PLACES // 19_000
    assert tools.faults[-1] == "the tools of a tab are too large together"


def test_each_fault_is_logged_once_a_minute_with_limits_per_site_and_in_total(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = 0.0
    fault_log = FaultLog(lambda: now)

    def logged_for(domain: str) -> int:
        return sum(fault_log.add(domain, f"fault {n % 500}") for n in range(1000))

    with caplog.at_level(logging.CRITICAL):
        assert logged_for("a.example") == FAULTS_OF_ONE
        assert logged_for("b.example") == FAULTS_OF_ONE
        others = sum(logged_for(f"{n}.example") for n in range(100))
        assert others == FAULTS_IN_ALL - 2 * FAULTS_OF_ONE
        now = SECONDS
        assert logged_for("a.example") == FAULTS_OF_ONE
