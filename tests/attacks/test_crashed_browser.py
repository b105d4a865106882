"""Agents get their browser back after it crashed, but not after a person closed it."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent import Agent
from tests.support.browsers.cdp import browser_of
from tests.support.browsers.managed import DEBUGGED, START
from tests.support.eventually import eventually, eventually_sync
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


def process_of(product: Product) -> int:
    """The process of the browser, which has the lock of its profile."""
    return int(os.readlink(product.home / "profile" / "SingletonLock").rpartition("-")[2])


def managed(product: Product, state: str) -> dict[str, Any] | None:
    found: dict[str, Any] | None = product.status().get("managedBrowser")
    return found if found is not None and found["state"] == state else None


async def test_a_crashed_browser_is_started_again_and_a_closed_one_is_not(
    tmp_path: Path, site: Site
) -> None:
    product = Product(tmp_path / "home")
    with product.running(*START, DEBUGGED):
        status = product.wait_browser()
        assert status["managedBrowser"] == {"state": "running", "crashes": 0, "says": None}
        since = status["browsers"][0]["connectedAt"]
        os.kill(process_of(product), signal.SIGKILL)
        port = product.wait_browser(after=since)["port"]
        found = eventually_sync(lambda: managed(product, "running"), "the browser to run again")
        assert found["crashes"] == 1 and "crashed once" in found["says"]
        assert "crashed once" in product.run("status").stdout
        assert "crashed once" in product.run("doctor").stdout
        async with product.client(port) as http:
            opened = await Agent(http).call("browser_open_tab", url=site.page("form"))
            assert opened["status"] == "complete"
        async with browser_of(product.home) as cdp:
            # As closing its last window does.
            await cdp.send("Browser.close")
        eventually_sync(lambda: managed(product, "closed"), "the browser to count as closed")
        assert product.status()["browsers"] == []
        assert "closed after that" in product.run("status").stdout


async def test_a_browser_that_is_told_to_end_is_not_started_again(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    with product.running(*START):
        product.wait_browser()
        os.kill(process_of(product), signal.SIGTERM)
        found = eventually_sync(lambda: managed(product, "closed"), "it to count as closed")
        assert found["crashes"] == 0


async def test_the_browser_of_its_own_command_is_started_again_too(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    with product.running("start", "--port", "0"):
        product.wait_running()
        with product.running("browser", "--headless"):
            since = product.wait_browser()["browsers"][0]["connectedAt"]
            os.kill(process_of(product), signal.SIGKILL)
            product.wait_browser(after=since)
        await eventually(lambda: _is_alone(product))


async def _is_alone(product: Product) -> bool:
    return not product.status()["browsers"]
