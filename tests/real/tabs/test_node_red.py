"""Node-RED draws its flow in a tab that was never in front.

`make tasks` fetches it and runs this test; `make test` runs it only where it is there already.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.tasks.applications import NODE_RED, NodeRed
from tests.real.conftest import Opener
from tests.support.agent import Agent

pytestmark = [
    pytest.mark.real_browser,
    pytest.mark.npm,
    pytest.mark.slow,
    pytest.mark.requirement("TH-22"),
    pytest.mark.skipif(not NODE_RED.exists(), reason="make tasks fetches it"),
]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    application = NodeRed(tmp_path / "node-red")
    with application.running():
        yield application.start_page


async def test_node_red_shows_its_flow_in_the_background_without_a_screenshot(
    agent: Agent, opened: Opener, address: str
) -> None:
    tab = await opened(address)
    await agent.call(
        "browser_wait_for_element",
        selector=".red-ui-flow-node-label",
        visible=True,
        timeout=30_000,
        tabId=tab,
    )
    page = await agent.text("browser_read_page", tabId=tab)
    assert "Measure now" in page
    assert not (await agent.call("browser_get_tab_info", tabId=tab))["active"]
