"""Finding plugins in Python: as files, folders and entry points, none of which is imported."""

import sys
from pathlib import Path

import pytest

from tabhub.config.settings import Settings
from tabhub.errors import TabhubError
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.python_source.source_files import (
    MOST_FILES,
    EntryPoint,
    entry_points,
    location_of,
    location_of_entry_point,
    modules_of,
    read_modules,
)
from tests.plugins.packages import write_package
from tests.plugins.python.written_plugins import read, source, written

RAISES = "raise SystemExit('it was imported')"


def found_by(
    installed: Path | None = None, entries: list[EntryPoint] | None = None, **settings: list[str]
) -> Plugins:
    chosen = Settings(**settings)  # type: ignore[arg-type]
    plugins = Plugins(installed, lambda: chosen, entry_points=lambda: entries or [])
    plugins.reload()
    return plugins


def why(plugins: Plugins) -> list[str]:
    return [failed.message for failed in plugins.failed] + plugins.faults


@pytest.mark.requirement("TH-10")
def test_files_and_folders_are_found_beside_packages(tmp_path: Path) -> None:
    write_package(tmp_path / "demo")
    written(tmp_path, source())
    written(tmp_path / "more-notes", source('name = "more-notes"', head=RAISES), "plugin.py")
    written(tmp_path / "more-notes", RAISES, "helper.py")
    plugins = found_by(tmp_path)
    assert set(plugins.all()) == {"demo", "notes", "more-notes"}, why(plugins)
    assert {p.kind for p in plugins.all().values()} == {"installed"}
    folder = plugins.get("more-notes")
    assert list(folder.digests) == ["plugin.py", "helper.py"]
    assert [module.name for module in modules_of(folder)] == ["plugin", "helper"]
    assert plugins.to_review("notes") is plugins.get("notes")


def test_settings_name_files_folders_and_folders_of_both(tmp_path: Path) -> None:
    single = written(tmp_path, source('name = "single"'), "single.py")
    folder = written(tmp_path / "folder", source('name = "in-folder"'), "plugin.py").parent
    many = tmp_path / "many"
    written(many / "a", source('name = "many-a"'), "plugin.py")
    written(many, source('name = "many-b"'), "b.py")
    written(many, "print('a script of something else')", "setup.py")
    written(many / "other", "x = 1", "plugin.py")
    plugins = found_by(
        local_plugins=[str(single), str(folder)], local_plugin_dirs=[str(tmp_path / "many")]
    )
    assert set(plugins.all()) == {"single", "in-folder", "many-a", "many-b"}
    assert why(plugins) == []


def test_a_local_plugin_takes_the_place_of_another_and_two_of_a_kind_are_refused(
    tmp_path: Path,
) -> None:
    installed = tmp_path / "installed"
    written(installed, source())
    local = written(tmp_path / "work", source('version = "2.0.0"'))
    twin = written(tmp_path / "twin", source())
    plugins = found_by(installed, local_plugins=[str(local), str(twin)])
    assert plugins.get("notes").version == "2.0.0"
    assert "has a plugin called notes too" in why(plugins)[0]


def test_an_installed_file_has_the_name_of_its_plugin(tmp_path: Path) -> None:
    written(tmp_path, source('name = "my-notes"'), "my_notes.py")
    written(tmp_path, source('name = "else"'), "other.py")
    plugins = found_by(tmp_path)
    assert set(plugins.all()) == {"my-notes"}
    assert "its file must be called else" in why(plugins)[0]


def test_one_bad_plugin_does_not_hide_the_others(tmp_path: Path) -> None:
    written(tmp_path, source())
    written(tmp_path, "class Broken(", "broken.py")
    plugins = found_by(tmp_path)
    assert set(plugins.all()) == {"notes"}
    assert [failed.folder.name for failed in plugins.failed] == ["broken.py"]
    with pytest.raises(TabhubError, match=r"line 1"):
        plugins.get("broken")


def test_a_changed_module_is_noticed_and_an_unchanged_one_is_not_read_again(tmp_path: Path) -> None:
    main = written(tmp_path / "notes", source(), "plugin.py")
    helper = written(main.parent, "x = 1", "helper.py")
    plugins = found_by(tmp_path)
    before = plugins.get("notes")
    plugins.reload()
    assert plugins.get("notes") is before
    helper.write_text("x = 2")
    plugins.reload()
    assert plugins.get("notes").digests != before.digests
    assert plugins.get("notes").digests["plugin.py"] == before.digests["plugin.py"]


def test_a_plugin_has_few_files_that_hide_no_others(tmp_path: Path) -> None:
    main = written(tmp_path / "notes", source(), "plugin.py")
    written(main.parent, "", "json.py")
    with pytest.raises(TabhubError, match=r"json\.py would hide the module json"):
        read(main.parent)
    (main.parent / "json.py").unlink()
    written(main.parent / ".venv", "", "hidden.py")
    written(main.parent / "__pycache__", "", "old.py")
    assert list(read(main.parent).digests) == ["plugin.py"]
    for number in range(MOST_FILES):
        written(main.parent / "lib", "", f"part{number}.py")
    with pytest.raises(TabhubError, match=f"more than {MOST_FILES} files"):
        read(main.parent)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed distributions."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(environment: Path, name: str, value: str, **files: str) -> None:
    about = environment / f"{name}-1.0.dist-info"
    written(about, f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "METADATA")
    written(about, f"[tabhub.plugins]\nnotes = {value}\n", "entry_points.txt")
    for path, text in files.items():
        place = environment / f"{path.replace('__', '/')}.py".replace("INIT", "__init__")
        written(place.parent, text, place.name)


@pytest.mark.requirement("TH-10")
def test_an_entry_point_is_found_without_importing_its_package(environment: Path) -> None:
    install(
        environment,
        "acme-notes",
        "acme_notes.plugin:Notes",
        acme_notes__INIT=RAISES,
        acme_notes__plugin=source("pass\n", head=RAISES) + "\n\nclass Other(Plugin):\n    pass\n",
        acme_notes__parts__helper=RAISES,
    )
    plugins = found_by(entries=entry_points())
    package = plugins.get("notes")
    assert (package.kind, package.package) == ("environment", "acme-notes")
    assert package.folder == environment / "acme_notes"
    assert [module.name for module in modules_of(package)] == [
        "acme_notes.plugin",
        "acme_notes",
        "acme_notes.parts.helper",
    ]
    assert "acme_notes" not in sys.modules


def test_a_module_and_a_namespace_are_located_too(environment: Path) -> None:
    written(environment, source(), "lone_notes.py")
    written(environment / "shared" / "notes", source(), "__init__.py")
    written(environment / "shared", source(), "other.py")
    lone = location_of_entry_point(EntryPoint("lone_notes:Notes", "a"))
    assert (lone.folder, lone.main, lone.prefix) == (environment, "lone_notes.py", "")
    inner = location_of_entry_point(EntryPoint("shared.notes:Notes", "b"))
    assert (inner.folder.name, inner.main, inner.prefix) == ("notes", "__init__.py", "shared.notes")
    other = location_of_entry_point(EntryPoint("shared.other:Notes", "c"))
    assert (other.main, other.is_single, other.prefix) == ("other.py", True, "shared")


@pytest.mark.parametrize(
    "value",
    ["nowhere_to_be_found:Notes", "acme_notes", "acme notes:x", "json.nothing:Notes", "sys:Notes"],
)
def test_an_entry_point_that_leads_nowhere_is_a_failed_plugin(value: str) -> None:
    plugins = found_by(entries=[EntryPoint(value, "acme-notes")])
    assert [failed.folder.name for failed in plugins.failed] == ["acme-notes"]
    assert plugins.failed[0].reason in ("not_found", "invalid_arguments")


def test_a_module_that_is_a_link_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "auth.json"
    secret.write_text("{}")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "plugin.py").write_text("x = 1")
    (folder / "data.py").symlink_to(secret)
    with pytest.raises(TabhubError, match=r"data\.py is a link"):
        read_modules(location_of(folder))
