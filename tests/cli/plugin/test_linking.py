"""`tabhub plugin link`, and `plugin remove` for what was linked."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Here
from tests.plugins.packages import write_package
from tests.support.product import Product

PYTHON = '''"""Notes."""
from tabhub.sdk import Page, Plugin, tool


class Memo(Plugin):
    """Notes of example.com."""

    match = ["https://notes.example.com/*"]

    @tool
    async def add(self, page: Page, text: str) -> str:
        """Add a note."""
        return text
'''


def linked(here: Here) -> list[str]:
    found: list[str] = json.loads(here("config", "get", "localPlugins").stdout)
    return found


def test_plugins_are_linked_one_after_the_other(here: Here, tmp_path: Path) -> None:
    first = write_package(tmp_path / "one")
    second = tmp_path / "memo.py"
    second.write_text(PYTHON)
    for path in (first, second, second):
        done = here("plugin", "link", str(path))
        assert done.returncode == 0, done.stderr
    assert "tabhub plugin review memo" in done.stdout
    assert linked(here) == [str(first), str(second)]
    listed = json.loads(here("plugin", "list", "--json").stdout)["plugins"]
    assert {"memo"} < {plugin["name"] for plugin in listed}


def test_what_has_no_plugin_is_not_linked(here: Here, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    broken = tmp_path / "broken.py"
    broken.write_text("def")
    for path, words in (("empty", "not loaded"), ("broken.py", "broken.py"), ("no", "not exist")):
        refused = here("plugin", "link", str(tmp_path / path))
        assert refused.returncode in (1, 2)
        assert words in refused.stderr and "Nothing was done" in refused.stderr
    assert linked(here) == []


def test_removing_a_linked_plugin_forgets_it_and_leaves_its_folder(
    here: Here, tmp_path: Path, product: Product
) -> None:
    path = tmp_path / "memo.py"
    path.write_text(PYTHON)
    here("plugin", "link", str(path))
    assert here("plugin", "review", "memo", "--yes", "--level", "auto").returncode == 0
    removed = here("plugin", "remove", "memo")
    assert removed.returncode == 0 and str(tmp_path) in removed.stdout
    assert linked(here) == [] and path.exists()
    assert "memo" not in (product.home / "config.json").read_text()
    here("plugin", "link", str(path))
    [again] = json.loads(here("plugin", "list", "--json").stdout)["plugins"]
    assert (again["review"], again["level"]) == ("never", "off")


def test_a_plugin_in_a_folder_of_plugins_is_not_unlinked(here: Here, tmp_path: Path) -> None:
    write_package(tmp_path / "all" / "one")
    here("config", "set", "localPluginDirs", json.dumps([str(tmp_path / "all")]))
    [found] = json.loads(here("plugin", "list", "--json").stdout)["plugins"]
    refused = here("plugin", "remove", found["name"])
    assert refused.returncode == 1 and "localPluginDirs" in refused.stderr


@pytest.mark.parametrize("by", ["path", "name of the folder"])
def test_a_linked_folder_that_is_gone_can_be_forgotten(here: Here, tmp_path: Path, by: str) -> None:
    folder = write_package(tmp_path / "my-one")
    here("plugin", "link", str(folder))
    folder.rename(tmp_path / "elsewhere")
    unknown = here("plugin", "remove", "demo")
    assert unknown.returncode == 1
    assert f"tabhub plugin remove {folder}" in unknown.stderr, "this may be what was meant"
    removed = here("plugin", "remove", str(folder) if by == "path" else "my-one")
    assert removed.returncode == 0 and str(folder) in removed.stdout
    assert linked(here) == []


def test_a_linked_plugin_can_be_removed_by_its_path(
    here: Here, tmp_path: Path, product: Product
) -> None:
    folder = write_package(tmp_path / "mine")
    here("plugin", "link", str(folder))
    assert here("plugin", "review", "demo", "--yes").returncode == 0
    assert here("plugin", "remove", str(folder)).returncode == 0
    assert linked(here) == []
    assert "demo" not in (product.home / "config.json").read_text()
