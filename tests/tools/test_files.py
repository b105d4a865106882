"""Where tools may save files."""

from pathlib import Path

import pytest

from tabhub.errors import Forbidden, InvalidArguments
from tabhub.tools.files import Files, save

PNG = (".png",)


@pytest.mark.parametrize("folder", [None, "relative/folder"])
def test_without_a_folder_nothing_is_saved(folder: str | None) -> None:
    with pytest.raises(Forbidden) as refused:
        Files(lambda: folder).place("a.png", PNG)
    assert refused.value.reason == "permission_off"


@pytest.mark.parametrize(
    "path", ["../a.png", "/etc/a.png", "in/../../a.png", "link/a.png", ".", "~/../a.png/../../x"]
)
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(Forbidden) as refused:
        Files(lambda: str(folder)).place(path, PNG)
    assert refused.value.reason == "permission_denied"


@pytest.mark.parametrize("path", ["a", "a.sh", "a.png.sh", "a\0.png", "old.png"])
def test_an_invalid_name_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "old.png").write_bytes(b"old")
    with pytest.raises(InvalidArguments):
        Files(lambda: str(tmp_path)).place(path, PNG)
    assert (tmp_path / "old.png").read_bytes() == b"old"


@pytest.mark.parametrize("name", ["a.PNG", "deep/er/a.png", "{folder}/a.png"])
def test_a_new_file_below_the_folder_is_written(tmp_path: Path, name: str) -> None:
    path = Files(lambda: str(tmp_path)).place(name.format(folder=tmp_path), PNG)
    save(path, b"new")
    assert path.read_bytes() == b"new" and path.is_relative_to(tmp_path)


def test_a_file_created_in_the_meantime_is_not_changed(tmp_path: Path) -> None:
    path = Files(lambda: str(tmp_path)).place("a.png", PNG)
    path.write_bytes(b"theirs")
    with pytest.raises(InvalidArguments, match="already"):
        save(path, b"ours")
    assert path.read_bytes() == b"theirs"


def test_a_failed_write_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InvalidArguments, match="cannot be written"):
        save(tmp_path / "file" / "a.png", b"new")
