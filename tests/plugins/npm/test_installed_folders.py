"""How packages take and leave their places in the folder of installed plugins."""

import os
from pathlib import Path

import pytest

from tabhub.plugins.npm.installed_folders import REPLACED, UNFINISHED, InstalledFolders


def written(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(text)
    return folder


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_package_takes_the_place_of_another_and_leaves_nothing_else(tmp_path: Path) -> None:
    folders = InstalledFolders(tmp_path / "plugins")
    with folders.changing(), folders.unfinished() as fresh:
        written(folders.place("notes"), "old")
        (fresh / "package.json").write_text("new")
        folders.put(fresh, folders.place("notes"))
    assert (folders.place("notes") / "package.json").read_text() == "new"
    assert left_in(folders.folder) == {"notes", ".installation.lock"}


def test_if_a_package_cannot_take_its_place_the_one_before_stays(tmp_path: Path) -> None:
    folders = InstalledFolders(tmp_path)
    written(folders.place("notes"), "old")
    with folders.changing(), pytest.raises(FileNotFoundError):
        folders.put(tmp_path / "missing", folders.place("notes"))
    assert (folders.place("notes") / "package.json").read_text() == "old"
    assert not [name for name in left_in(tmp_path) if name.startswith(REPLACED)]


@pytest.mark.parametrize("has_successor", [True, False])
def test_a_killed_process_leaves_the_new_version_or_the_old_one(
    tmp_path: Path, has_successor: bool
) -> None:
    folders = InstalledFolders(tmp_path)
    written(tmp_path / f"{REPLACED}x" / "notes", "old")
    written(tmp_path / f"{UNFINISHED}y", "half")
    if has_successor:
        written(folders.place("notes"), "new")
    with folders.changing():
        pass
    expected = "new" if has_successor else "old"
    assert (folders.place("notes") / "package.json").read_text() == expected
    assert left_in(tmp_path) == {"notes", ".installation.lock"}


def test_a_removed_package_that_is_a_link_leaves_its_target_alone(tmp_path: Path) -> None:
    target = written(tmp_path / "elsewhere", "mine")
    folders = InstalledFolders(tmp_path / "plugins")
    with folders.changing():
        os.symlink(target, folders.place("notes"))
        folders.discard(folders.place("notes"))
    assert (target / "package.json").read_text() == "mine"
    assert left_in(folders.folder) == {".installation.lock"}
