"""What commands say about a reviewed plugin in Python that the running server cannot load."""

import json
from collections.abc import Iterator

import pytest

from tabhub.config.paths import Home
from tests.cli.conftest import Here
from tests.plugins.python.written_plugins import action, source, written
from tests.support.eventually import eventually_sync
from tests.support.product import Product

HEADS = {
    "a missing module": ("import nothing_like_this", "No module named 'nothing_like_this'"),
    "an exit": ("sys.exit(3)", "sys.exit"),
}


@pytest.fixture
def running(product: Product) -> Iterator[Home]:
    home = Home(product.home).create()
    with product.running("start", "--port", "0"):
        eventually_sync(lambda: "tabhub is up" in product.output, "the server to be up")
        yield home


@pytest.mark.parametrize("fault", HEADS)
def test_a_plugin_that_fails_on_import_is_shown_as_failed(
    running: Home, here: Here, fault: str
) -> None:
    head, words = HEADS[fault]
    path = written(running.plugins, source(head=head))
    done = here("plugin", "review", "notes", "--yes", "--level", "auto")
    assert done.returncode == 1
    assert "notes 0.0.0 is reviewed; its level is auto." in done.stdout
    assert "could not be loaded" in done.stderr and words in done.stderr
    listed = json.loads(here("plugin", "list", "--json").stdout)
    assert [(one["name"], one["review"]) for one in listed["plugins"]] == [("notes", "failed")]
    [failed] = listed["failed"]
    assert (failed["folder"], words in failed["message"]) == (str(path), True)
    assert words in here("plugin", "list").stdout
    assert words in here("tool", "call", "notes_echo", "text=a").stderr
    logged = here("logs", "--plugin", "notes").stdout
    assert "Traceback" in logged and "notes.py" in logged and "cannot be loaded" in logged
    path.write_text(source())
    shown = json.loads(here("plugin", "list", "--json").stdout)
    assert shown["plugins"][0]["review"] == "changed"
    assert here("plugin", "review", "notes", "--yes").returncode == 0
    shown = json.loads(here("plugin", "list", "--json").stdout)
    assert (shown["plugins"][0]["review"], shown["failed"]) == ("reviewed", [])


def test_a_plugin_with_an_untyped_parameter_is_shown_as_failed(running: Home, here: Here) -> None:
    untyped = action("add", "return 1").replace("page: Page)", "page: Page, title)")
    written(running.plugins, source(untyped))
    done = here("plugin", "review", "notes", "--yes")
    assert (done.returncode, "title" in done.stderr) == (1, True)
