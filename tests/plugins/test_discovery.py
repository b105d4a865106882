"""Where plugins are found, which one counts, and what is said about those that are not loaded."""

import json
import os
from pathlib import Path

import pytest

from tabhub.config.settings import Settings
from tabhub.errors import NotFound
from tabhub.plugins.discovery import Plugins
from tests.plugins.packages import package_json, tool, write_package


class Place:
    """A home with plugins, and folders of local ones."""

    def __init__(self, root: Path) -> None:
        self.installed, self.local = root / "plugins", root / "local"
        self.settings = Settings()
        self.taken: set[str] = set()
        self.plugins = Plugins(self.installed, lambda: self.settings, self.taken)
        self.changes = 0
        self.plugins.on_change(self._changed)

    def _changed(self) -> None:
        self.changes += 1

    def install(self, name: str = "demo") -> Path:
        return write_package(self.installed / name, package_json(f"opentabs-plugin-{name}"))

    def write_local(self, folder: str, name: str = "demo") -> Path:
        return write_package(self.local / folder, package_json(f"opentabs-plugin-{name}"))

    def failures(self) -> dict[str, str]:
        return {failed.folder.name: failed.message for failed in self.plugins.failed}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_any_plugin_nothing_is_found_and_nothing_is_wrong(place: Place) -> None:
    assert place.plugins.reload() == 0
    assert (place.plugins.failed, place.plugins.faults, place.changes) == ([], [], 0)


def test_plugins_are_found_installed_in_named_folders_and_in_their_subfolders(place: Place) -> None:
    place.install("one")
    place.settings.local_plugins = [str(place.write_local("alone", "two"))]
    place.write_local("many/a", "three")
    place.write_local("many/b", "four")
    (place.local / "many" / "notes").mkdir()
    write_package(place.local / "many" / "other", {"name": "left-pad", "version": "1.0.0"})
    place.settings.local_plugin_dirs = [str(place.local / "many")]
    assert place.plugins.reload() == 4
    kinds = {name: package.kind for name, package in place.plugins.all().items()}
    assert kinds == {"one": "installed", "two": "local", "three": "local", "four": "local"}
    assert place.plugins.failed == []


def test_a_local_plugin_wins_over_an_installed_one_of_its_name(place: Place) -> None:
    place.install()
    folder = place.write_local("mine")
    place.settings.local_plugins = [str(folder)]
    assert place.plugins.reload() == 1
    assert place.plugins.get("demo").folder == folder
    assert place.plugins.failed == []


def test_of_two_local_plugins_of_one_name_the_first_counts(place: Place) -> None:
    first, second = place.write_local("first"), place.write_local("second")
    place.settings.local_plugins = [str(first), str(second), str(first)]
    assert place.plugins.reload() == 1
    assert place.plugins.get("demo").folder == first
    assert place.failures().keys() == {"second"}


def test_hidden_folders_are_for_tabhub_itself(place: Place) -> None:
    place.install()
    write_package(place.installed / ".waiting" / "demo")
    write_package(place.installed / ".reviewed" / "demo")
    assert (place.plugins.reload(), place.plugins.failed) == (1, [])


def test_an_installed_plugin_is_in_the_folder_of_its_name(place: Place) -> None:
    write_package(place.installed / "bank", package_json("opentabs-plugin-demo"))
    assert place.plugins.reload() == 0
    assert "its folder must be called demo" in place.failures()["bank"]


def test_one_that_fails_is_named_with_the_reason_and_the_others_are_loaded(place: Place) -> None:
    place.install("good")
    (place.install("bad") / "dist" / "adapter.iife.js").unlink()
    place.settings.local_plugins = [str(place.local / "missing")]
    assert place.plugins.reload() == 1
    failed = {failed.folder.name: failed.reason for failed in place.plugins.failed}
    assert failed == {"missing": "not_found", "bad": "not_found"}
    assert "there is no dist/adapter.iife.js" in place.failures()["bad"]
    with pytest.raises(NotFound, match=r"no dist/adapter\.iife\.js"):
        place.plugins.get("bad")
    with pytest.raises(NotFound, match="There is no plugin 'other'"):
        place.plugins.get("other")


def test_a_folder_of_the_settings_that_does_not_exist_is_a_fault(place: Place) -> None:
    place.settings.local_plugin_dirs = [str(place.local / "none")]
    place.plugins.reload()
    assert place.plugins.faults == [f"localPluginDirs: {place.local / 'none'} is not a folder."]


@pytest.mark.parametrize("name", ["demo_add_note", "demo_list"])
def test_a_plugin_with_the_name_of_another_tool_is_refused(place: Place, name: str) -> None:
    tools = [tool("add_note"), tool("list")]
    write_package(place.installed / "demo", tools={"tools": tools})
    place.taken.add(name)
    assert place.plugins.reload() == 0
    assert f"there is a tool called {name} already" in place.failures()["demo"]


def test_what_is_unchanged_is_not_read_again_and_nobody_is_told(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.install("one")
    (place.install("two") / "package.json").write_text("{")
    place.plugins.reload()
    before = place.plugins.all()["one"]
    reads: list[Path] = []
    monkeypatch.setattr("tabhub.plugins.discovery.read_package", lambda *a: reads.append(a[0]))
    place.plugins.reload()
    assert (place.plugins.all()["one"], reads) == (before, [])
    assert (place.changes, list(place.failures())) == (1, ["two"])


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("package.json", "Notes"),
        ("dist/tools.json", "note"),
        ("dist/adapter.iife.js", "demo"),
        ("dist/pre-script.iife.js", "early"),
    ],
)
def test_a_changed_file_is_read_again_even_if_its_time_and_size_are_set_back(
    place: Place, name: str, word: str
) -> None:
    path = place.install() / name
    write_package(place.installed / "demo", pre_script="early();")
    place.plugins.reload()
    before, status = place.plugins.get("demo").digests, path.stat()
    path.write_text(path.read_text().replace(word, word.swapcase(), 1))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    place.plugins.reload()
    assert place.plugins.get("demo").digests != before
    assert place.changes == 2


def test_a_removed_plugin_is_gone_and_a_mended_one_comes_back(place: Place) -> None:
    folder = place.install()
    place.plugins.reload()
    written = (folder / "package.json").read_text()
    (folder / "package.json").write_text(json.dumps({"name": 3}))
    assert place.plugins.reload() == 0
    (folder / "package.json").write_text(written)
    assert place.plugins.reload() == 1
    place.settings.local_plugins = [str(folder)]
    assert place.plugins.reload() == 1
    assert place.plugins.get("demo").kind == "local"


@pytest.mark.parametrize("name", ["typo", "typo.py"])
def test_a_path_that_does_not_exist_is_said_to_be_missing(place: Place, name: str) -> None:
    place.settings.local_plugins = [str(place.local / name)]
    place.plugins.reload()
    assert place.failures() == {name: "This plugin is not loaded: its path does not exist."}


def test_a_folder_that_is_made_without_files_is_told_from_a_missing_one(place: Place) -> None:
    place.settings.local_plugins = [str(place.local / "notes")]
    place.plugins.reload()
    (place.local / "notes").mkdir(parents=True)
    place.plugins.reload()
    assert "no package.json in its folder" in place.failures()["notes"]
