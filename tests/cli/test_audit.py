"""`tabhub audit`: from the server, and from the files it leaves."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Here
from tests.support.product import Product
from tests.support.terminal import in_terminal

Json = dict[str, Any]


@pytest.fixture
def product(tmp_path: Path) -> Product:
    product = Product(tmp_path / "home")
    product.home.mkdir(mode=0o700)
    return product


def entry(number: int, ago: float = 0, **more: Any) -> Json:
    told = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - ago))
    usual = {"tool": "browser_list_tabs", "plugin": "browser", "client": "ann", "success": True}
    return {"timestamp": f"{told}.000Z", "durationMs": number, **usual, **more}


def written(product: Product, name: str, *entries: Json) -> None:
    lines = "".join(json.dumps(entry) + "\n" for entry in entries)
    (product.home / name).write_text(lines)


def numbers(here: Here, *flags: str) -> list[int]:
    shown = here("audit", "--file", *flags)
    assert shown.returncode == 0, shown.stderr
    return [entry["durationMs"] for entry in json.loads(shown.stdout)]


@pytest.mark.requirement("OT-13")
def test_both_files_are_read_without_a_server_the_newest_first(
    product: Product, here: Here
) -> None:
    written(product, "audit.log.1", entry(1), entry(2))
    written(product, "audit.log", entry(3), entry(4))
    with (product.home / "audit.log").open("a") as file:
        file.write('{"torn')
    assert numbers(here) == [4, 3, 2, 1]
    assert numbers(here, "--limit", "3") == [4, 3, 2]


def test_entries_are_chosen_by_what_they_say(product: Product, here: Here) -> None:
    written(
        product,
        "audit.log",
        entry(1, ago=3 * 86400 + 60),
        entry(2, ago=7300, tool="browser_open_tab"),
        entry(3, ago=100, client="bob", success=False),
        entry(4, ago=10, plugin="door"),
    )
    assert numbers(here, "--since", "3d") == [4, 3, 2]
    assert numbers(here, "--since", "2h") == [4, 3]
    assert numbers(here, "--since", "1m") == [4]
    assert numbers(here, "--since", "2001-02-03") == [4, 3, 2, 1]
    assert numbers(here, "--since", "2999-01-01T00:00:00Z") == []
    assert numbers(here, "--tool", "browser_open_tab") == [2]
    assert numbers(here, "--plugin", "door") == [4]
    assert numbers(here, "--client", "bob") == [3]
    assert numbers(here, "--failure") == [3]
    assert numbers(here, "--success", "--since", "1h") == [4]


@pytest.mark.parametrize(
    "flags",
    [("--since", "tomorrow"), ("--since", "99x"), ("--since", "999999999w"), ("--limit", "0")],
)
def test_what_cannot_be_meant_is_a_usage_error(here: Here, flags: tuple[str, ...]) -> None:
    refused = here("audit", "--file", *flags)
    assert (refused.returncode, "Traceback" in refused.stderr) == (2, False)
    assert any(flag in refused.stderr for flag in flags)


@pytest.mark.requirement("OT-13")
def test_the_server_tells_the_same_as_its_file_and_the_file_outlives_it(product: Product) -> None:
    with product.running("start", "--port", "0"):
        product.wait_running()
        for _ in range(3):
            product.run("permissions", "set", "browser_open_tab", "ask")
        told = json.loads(product.run("audit", "--plugin", "admin", "--since", "1h").stdout)
        assert len(told) == 3
        assert product.run("audit", "--limit", "501").returncode == 2
    assert json.loads(product.run("audit", "--file").stdout) == told
    refused = product.run("audit")
    assert (refused.returncode, "--file" in refused.stderr) == (3, True)


def test_a_terminal_gets_a_table_that_obeys_nobody(product: Product) -> None:
    error = {"reason": "stale_ref", "message": "gone \x1b[2J away"}
    written(product, "audit.log", entry(12, error=error, success=False))
    for columns in (50, 120):
        shown = in_terminal(product.environment, "audit", "--file", columns=columns)
        assert shown.returncode == 0
        assert "browser_list_tabs" in shown.text
        assert "stale_ref: gone \\x1b[2J" in " ".join(shown.text.split())
        assert "\x1b[2J" not in shown.text
