"""The public MCP suites find nothing wrong with a server built on our layer."""

from collections.abc import Iterator

import pytest

from tests.conformance.run import SUITES, Suite, fixture_server, run_suite


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with fixture_server() as address:
        yield address


@pytest.mark.npm
@pytest.mark.timeout(300)
@pytest.mark.requirement("TH-40")
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_no_check_of_a_public_suite_fails(suite: Suite, url: str) -> None:
    outcome = run_suite(suite, url)
    assert outcome.passed > 0
    assert outcome.faults() == []
