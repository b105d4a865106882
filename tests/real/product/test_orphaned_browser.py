"""A killed server leaves its browser running; the next server uses it."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabhub.browser.launcher.profile import owner
from tabhub.config.paths import Home
from tests.browser.launcher.processes import living
from tests.support.agent import Agent
from tests.support.eventually import eventually_sync
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-01")]
BACKGROUND = ("start", "--background", "--browser", "--headless")


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    product = Product(tmp_path / "home")
    product.lift_rates()
    yield product
    product.run("stop")


def browser(product: Product) -> int:
    found = owner(product.home / "profile")
    assert found is not None
    return found


def killed(product: Product) -> int:
    """Kill the server without a clean stop; the browser that keeps running."""
    left = browser(product)
    os.kill(product.status()["pid"], signal.SIGKILL)
    eventually_sync(lambda: not product.status()["running"], "the server to be gone")
    return left


async def test_every_way_of_starting_reuses_an_orphaned_browser(
    product: Product, site: Site
) -> None:
    first = product.run(*BACKGROUND, "--port", "0")
    assert (first.returncode, "started by tabhub" in first.stdout) == (0, True), first.stderr
    async with product.client(product.status()["port"]) as http:
        opened = await Agent(http).call("browser_open_tab", url=site.page("form"))
    left = killed(product)
    assert f"(pid {left})" in product.run("doctor").stdout

    again = product.run(*BACKGROUND, "--port", "0")
    assert again.returncode == 0, again.stderr
    async with product.client(product.status()["port"]) as http:
        agent = Agent(http)
        read = await agent.call("browser_get_tab_content", tabId=opened["tabId"])
        assert "Form" in str(read)
    assert killed(product) == left

    with product.running("start", "--browser", "--port", "0"):
        product.wait_browser()
        eventually_sync(lambda: "tabhub is up" in product.output, "the start to be over")
        assert f"left behind (pid {left})." in product.output
        assert killed(product) == left

    with product.running("browser"):
        eventually_sync(
            lambda: product.output.count("that an earlier run left behind") == 2,
            "the browser to be taken",
        )
        refused = product.run("browser", "--headless")
        assert (refused.returncode, f"process {left}" in refused.stderr) == (1, True)
    eventually_sync(lambda: living(left) == set(), "the browser to end with its command")


def test_stop_closes_an_orphaned_browser(product: Product) -> None:
    assert product.run(*BACKGROUND, "--port", "0").returncode == 0
    left = killed(product)
    stopped = product.run("stop")
    assert (stopped.returncode, f"(pid {left}) is closed" in stopped.stdout) == (0, True)
    assert living(left) == set()
    assert product.run("stop").returncode == 3
    assert product.run(*BACKGROUND, "--port", "0").returncode == 0
    killed(product)
    again = product.run(*BACKGROUND, "--port", "0")
    assert again.returncode == 0, again.stderr
    used = browser(product)
    assert product.run("stop").returncode == 0
    assert living(used) == set()


def test_a_running_server_gets_a_browser_that_ends_with_it(product: Product) -> None:
    assert product.run("start", "--background", "--port", "0").returncode == 0
    joined = product.run(*BACKGROUND)
    assert (joined.returncode, "already runs" in joined.stdout) == (0, True), joined.stderr
    assert [browser["kind"] for browser in product.status()["browsers"]] == ["managed"]
    used = browser(product)
    assert product.run(*BACKGROUND).returncode == 0
    assert browser(product) == used
    assert killed(product) == used
    assert product.run(*BACKGROUND, "--port", "0").returncode == 0
    assert browser(product) == used
    assert product.run("stop").returncode == 0
    assert living(used) == set()


def test_a_server_uses_an_open_browser_which_stays_open_afterwards(product: Product) -> None:
    with product.running("browser", "--headless"):
        eventually_sync(lambda: "browser started" in product.output, "the browser")
        used = browser(product)
        assert product.run("start", "--background", "--browser", "--port", "0").returncode == 0
        assert browser(product) == used
        stopped = product.run("stop")
        assert (stopped.returncode, f"still open (pid {used})" in stopped.stdout) == (0, True)
        assert used in living(used)


def test_a_browser_that_cannot_start_is_reported_at_once_with_its_own_error(
    product: Product, tmp_path: Path
) -> None:
    broken = tmp_path / "chrome"
    broken.write_text(
        "#!/bin/sh\n[ $1 = --version ] && echo Chromium 150.0 && exit\n"
        "echo 'no screen at all' >&2; exit 9\n"
    )
    broken.chmod(0o755)
    product.environment["TABHUB_BROWSER"] = str(broken)
    for flags in (("--background",), ()):
        refused = product.run("start", "--browser", "--port", "0", *flags)
        assert (refused.returncode, "no screen at all" in refused.stderr) == (1, True)
    assert product.status() == {"running": False}
    assert Home(product.home).pid.exists() is False
    assert product.run("start", "--background", "--port", "0").returncode == 0
    refused = product.run(*BACKGROUND)
    assert (refused.returncode, "no screen at all" in refused.stderr) == (1, True)
