"""The public MCP suites find nothing wrong with the product itself, where they can test it.

Most of their scenarios call tools, prompts and resources that only their fixture has; those named
here do not. The suites cannot send a secret, so this server needs none.
"""

from collections.abc import Iterator

import httpx
import jsonschema_rs
import pytest

from tests.clients.conftest import TOOLS
from tests.conformance.run import SUITES, Check, Outcome, Suite, run_suite
from tests.support.agent import Agent
from tests.support.eventually import PATIENCE
from tests.support.product import Product

pytestmark = [pytest.mark.real_browser, pytest.mark.xdist_group("clients")]

WITH_SESSIONS = {
    "dns-rebinding-protection",
    "logging-set-level",
    "ping",
    "prompts-list",
    "resources-list",
    "server-initialize",
    "server-sse-multiple-streams",
    "tools-list",
}
WITHOUT_SESSIONS = {
    "caching",
    "dns-rebinding-protection",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "prompts-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "server-sse-multiple-streams",
    "server-stateless",
    "tools-list",
}
SCENARIOS = (WITH_SESSIONS, WITH_SESSIONS | {"server-session-lifecycle"}, WITHOUT_SESSIONS)

UNTESTABLE = "Not testable: server does not list the diagnostic tool"
CALL_THE_FIXTURE = {
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-missing-capability-http-400",
    "sep-2575-server-no-log-without-loglevel",
    "sep-2575-server-rejects-undeclared-capability",
}
"""Checks of server-stateless that need a tool of the fixture and fail without it."""

WAITS_FOR_THE_FIXTURE = "sep-2575-server-sends-tools-list-changed-on-subscription"
"""A check of server-stateless that warns when a tool of the fixture has changed no tools."""


@pytest.fixture(scope="module")
def open_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a product without authentication that has a tab to list and read."""
    product = Product(tmp_path_factory.mktemp("open") / "home")
    with product.running("start", "--port", "0", "--no-auth", "--browser", "--headless"):
        yield f"http://127.0.0.1:{product.wait_browser()['port']}/mcp"


@pytest.mark.npm
@pytest.mark.timeout(180)
@pytest.mark.requirement("TH-40")
@pytest.mark.parametrize(
    ("suite", "scenarios"),
    list(zip(SUITES, SCENARIOS, strict=True)),
    ids=[suite.name for suite in SUITES],
)
def test_all_checks_that_need_no_fixture_pass(
    open_url: str, suite: Suite, scenarios: set[str]
) -> None:
    outcome = run_suite(suite, open_url)
    checks = [check for check in outcome.checks if check.scenario in scenarios]
    assert _passing(outcome, scenarios) == scenarios, outcome.output
    assert [str(check) for check in checks if _at_fault(check)] == []


async def test_every_tool_has_a_valid_json_schema_2020_12(open_url: str) -> None:
    """The suites' own scenario for this checks only a tool of the fixture."""
    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        listed = (await Agent(http, open_url).post("tools/list")).json()["result"]["tools"]
    schemas = {tool["name"]: tool["inputSchema"] for tool in listed}
    assert list(schemas) == TOOLS
    for schema in schemas.values():
        assert "$schema" not in schema  # MCP then assumes 2020-12
        jsonschema_rs.meta.validate(schema)
        jsonschema_rs.Draft202012Validator(schema)


async def test_no_tool_accepts_an_unlisted_argument(open_url: str) -> None:
    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        agent = Agent(http, open_url)
        for name in TOOLS:
            error = (await agent.result(name, surplus=1))["structuredContent"]["error"]
            assert error["reason"] == "invalid_arguments", name


def _passing(outcome: Outcome, scenarios: set[str]) -> set[str]:
    """The scenarios with at least one passed check."""
    return {check.scenario for check in outcome.having("SUCCESS")} & scenarios


def _at_fault(check: Check) -> bool:
    if check.status == "WARNING":
        return check.id != WAITS_FOR_THE_FIXTURE
    excused = check.id in CALL_THE_FIXTURE and check.message.startswith(UNTESTABLE)
    return check.status == "FAILURE" and not excused
