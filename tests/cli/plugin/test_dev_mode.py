"""Dev mode as the person sees it on the command line."""

from pathlib import Path

import pytest

from tests.cli.conftest import Here
from tests.plugins.packages import write_package
from tests.support.eventually import eventually_sync
from tests.support.product import Product

WARNING = "DEV MODE: demo runs WITHOUT A REVIEW until this server ends."


@pytest.mark.requirement("OT-37")
def test_every_command_says_which_plugins_run_without_a_review(
    here: Here, product: Product, tmp_path: Path
) -> None:
    folder = write_package(tmp_path / "demo")
    assert here("config", "set", "localPlugins", f'["{folder}"]').returncode == 0
    with product.running("start", "--port", "0", "--dev"):
        eventually_sync(lambda: "tabhub is up" in product.output, "the server to be up")
        assert f"WARNING: {WARNING}" in product.output
        assert WARNING in here("status").stdout
        assert WARNING in here("doctor").stdout
        shown = here("plugin", "list", "--json").stdout
        assert '"review":"dev mode","level":"ask"' in shown and '"trusted":["demo"]' in shown
    assert '"review":"never","level":"off"' in here("plugin", "list", "--json").stdout


def test_a_server_in_the_background_says_so_too(
    here: Here, product: Product, tmp_path: Path
) -> None:
    folder = write_package(tmp_path / "demo")
    assert here("config", "set", "localPlugins", f'["{folder}"]').returncode == 0
    try:
        started = product.run("start", "--port", "0", "--dev", "--background")
        assert started.returncode == 0, started.stderr
        assert f"WARNING: {WARNING}" in started.stderr
        assert f"WARNING: {WARNING}" in product.run("start", "--background").stderr
    finally:
        product.run("stop")
