"""The public MCP suites find nothing wrong with the product itself, where they can test it.

Most of their scenarios call tools, prompts and resources that only their fixture has; those named
here do not. The suites cannot show a secret, so this server asks for none.
"""

from collections.abc import Iterator

import pytest

from tests.conformance.run import SUITES, Check, Outcome, run_suite
from tests.support.product import Product

pytestmark = [
    pytest.mark.npm,
    pytest.mark.real_browser,
    pytest.mark.requirement("TH-40"),
    pytest.mark.xdist_group("clients"),
]

WITH_SESSIONS = {
    "completion-complete",
    "dns-rebinding-protection",
    "logging-set-level",
    "ping",
    "prompts-list",
    "resources-list",
    "resources-subscribe",
    "resources-unsubscribe",
    "server-initialize",
    "server-sse-multiple-streams",
    "tools-list",
}
WITHOUT_SESSIONS = {
    "caching",
    "completion-complete",
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

CALL_THE_FIXTURE = {
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-missing-capability-http-400",
    "sep-2575-server-no-log-without-loglevel",
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-server-sends-tools-list-changed-on-subscription",
}
"""Checks of server-stateless that call tools of the fixture."""


@pytest.fixture(scope="module")
def open_product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Product, str]]:
    """A product that lets anyone in, with a tab to list and read, and its address."""
    product = Product(tmp_path_factory.mktemp("open") / "home")
    with product.running("start", "--port", "0", "--no-auth", "--browser", "--headless"):
        yield product, f"http://127.0.0.1:{product.wait_browser()['port']}"


@pytest.fixture(scope="module", params=range(len(SUITES)), ids=[suite.name for suite in SUITES])
def tested(
    request: pytest.FixtureRequest, open_product: tuple[Product, str]
) -> tuple[Outcome, set[str]]:
    """What a suite found, and the scenarios in it that the product must pass."""
    number: int = request.param
    return run_suite(SUITES[number], f"{open_product[1]}/mcp"), SCENARIOS[number]


def test_no_check_that_needs_no_fixture_fails(tested: tuple[Outcome, set[str]]) -> None:
    outcome, scenarios = tested
    ours = [check for check in outcome.checks if check.scenario in scenarios]
    assert {check.scenario for check in ours} == scenarios, outcome.output
    assert [str(check) for check in ours if _at_fault(check)] == []


def _at_fault(check: Check) -> bool:
    return check.status in ("FAILURE", "WARNING") and check.id not in CALL_THE_FIXTURE
