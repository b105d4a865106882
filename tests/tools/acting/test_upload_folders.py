"""Which files may be uploaded to pages."""

from pathlib import Path

import pytest

from tabhub.errors import Forbidden, InvalidArguments
from tabhub.tools.files import UploadFolders


@pytest.mark.parametrize("folders", [[], ["relative/folder"]])
def test_without_a_folder_nothing_is_uploaded_and_the_setting_is_named(folders: list[str]) -> None:
    with pytest.raises(Forbidden, match=r"uploads\.folders") as refused:
        UploadFolders(lambda: folders).file("/etc/passwd")
    assert refused.value.reason == "permission_off"


@pytest.fixture
def folders(tmp_path: Path) -> UploadFolders:
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(name)
    (tmp_path / "second" / "link").symlink_to(tmp_path / "third" / "third.txt")
    (tmp_path / "second" / "fine").symlink_to(tmp_path / "first" / "first.txt")
    return UploadFolders(lambda: [str(tmp_path / "first"), str(tmp_path / "second")])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("first.txt", "first/first.txt"),
        ("second.txt", "second/second.txt"),
        ("{}/second/second.txt", "second/second.txt"),
        ("{}/first/../second/second.txt", "second/second.txt"),
        ("fine", "first/first.txt"),
    ],
)
def test_a_file_below_any_of_the_folders_is_found(
    folders: UploadFolders, tmp_path: Path, path: str, expected: str
) -> None:
    assert folders.file(path.format(tmp_path)) == (tmp_path / expected).resolve()


@pytest.mark.parametrize("path", ["link", "{}/third/third.txt", "../third/third.txt", "/etc"])
def test_a_file_outside_the_folders_is_refused_and_the_folders_are_named(
    folders: UploadFolders, tmp_path: Path, path: str
) -> None:
    with pytest.raises(Forbidden, match="second") as refused:
        folders.file(path.format(tmp_path))
    assert refused.value.reason == "permission_denied"


@pytest.mark.parametrize("path", ["missing.txt", ".", "a\0b", "", "x" * 5000])
def test_a_path_that_is_not_a_file_is_refused(folders: UploadFolders, path: str) -> None:
    with pytest.raises(InvalidArguments):
        folders.file(path)


def test_a_file_that_cannot_be_opened_is_refused(
    folders: UploadFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InvalidArguments, match="Permission denied"):
        folders.file("first.txt")
