"""The first calls after `tabhub start --browser`, and after a crash of that browser."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.managed import START
from tests.support.eventually import eventually
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


WAITED = "extension_disconnected"
CUT_OFF = "page_may_have_received"
"""A call that the browser had received when it was killed."""


async def opened(agent: Agent, site: Site, *reasons: str) -> dict[str, Any] | None:
    """Open a tab; None if the call failed with one of these reasons, and no other way to fail."""
    try:
        return await agent.call("browser_open_tab", url=site.page("form"))
    except ToolFailed as failed:
        assert failed.reason in reasons, failed
        assert failed.error["retryable"]
        return None


@pytest.mark.requirement("OT-25")
async def test_calls_wait_for_the_browser_of_the_server_at_its_start_and_after_a_crash(
    tmp_path: Path, site: Site
) -> None:
    product = Product(tmp_path / "home")
    with product.running(*START):
        async with product.client(product.wait_running()) as http:
            agent = Agent(http)
            await eventually(lambda: opened(agent, site, WAITED), "a tab in the new browser")
            lock = os.readlink(product.home / "profile" / "SingletonLock")
            os.kill(int(lock.rpartition("-")[2]), signal.SIGKILL)
            again = await eventually(
                lambda: opened(agent, site, WAITED, CUT_OFF), "a tab in the restarted browser"
            )
            assert again["status"] == "complete"
            assert product.status()["managedBrowser"]["crashes"] == 1
