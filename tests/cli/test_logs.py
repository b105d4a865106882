"""`tabhub logs`: the end of the log, and its future."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.product import Product, wait_for

PLUGIN = "2026-11-15 10:00:00,000 INFO tabhub.plugins.slack: hello"


@pytest.fixture
def product(tmp_path: Path) -> Product:
    product = Product(tmp_path / "home")
    product.home.mkdir(mode=0o700)
    return product


def log(product: Product, *lines: str) -> None:
    with (product.home / "server.log").open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


def shows(product: Product, line: str) -> bool:
    return wait_for(lambda: line in product.output.splitlines(), f"the line {line!r}")


def test_the_last_lines_are_shown_of_both_files(product: Product) -> None:
    (product.home / "server.log.1").write_text("one\ntwo\n")
    log(product, "three", "four")
    assert product.run("logs").stdout == "one\ntwo\nthree\nfour\n"
    assert product.run("logs", "--lines", "3").stdout == "two\nthree\nfour\n"
    assert product.run("logs", "-n", "0").stdout == ""


def test_without_a_log_that_is_said(product: Product) -> None:
    refused = product.run("logs")
    assert (refused.returncode, "server.log" in refused.stderr) == (1, True)


@pytest.mark.requirement("OT-18")
def test_lines_are_followed_over_rotations_and_restarts_until_ctrl_c(product: Product) -> None:
    with product.running("logs", "-f", "-n", "1") as process:
        log(product, "born late")
        assert shows(product, "born late")
        log(product, "before")
        assert shows(product, "before")
        os.replace(product.home / "server.log", product.home / "server.log.1")
        with (product.home / "server.log.1").open("a") as file:
            file.write("the last of the old\n")
        log(product, "the first of the new")
        assert shows(product, "the first of the new")
        (product.home / "server.log").unlink()
        log(product, "after a loss")
        assert shows(product, "after a loss")
        (product.home / "server.log").write_text("cut\n")
        assert shows(product, "cut")
        with (product.home / "server.log").open("a") as file:
            file.write("half a ")
            file.flush()
            log(product, "line")
        assert shows(product, "half a line")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    assert product.output.splitlines() == [
        "born late",
        "before",
        "the last of the old",
        "the first of the new",
        "after a loss",
        "cut",
        "half a line",
    ]


def test_the_servers_own_lines_arrive(product: Product) -> None:
    product.environment["TABHUB_DANGEROUSLY_SKIP_PERMISSIONS"] = "1"
    with product.running("start", "--port", "0"):
        product.wait_running()
        shown = product.run("logs")
    assert "WARNING tabhub.store.rules: Permissions are SKIPPED" in shown.stdout


def test_lines_of_a_plugin_are_chosen_with_what_belongs_to_them(product: Product) -> None:
    other = PLUGIN.replace("slack", "slacker")
    log(product, other, "  more of the other", PLUGIN, "  Traceback of it", other)
    shown = product.run("logs", "--plugin", "slack")
    assert shown.stdout == f"{PLUGIN}\n  Traceback of it\n"
    assert "no plugins" in shown.stderr
