"""The installed copy of the extension."""

from pathlib import Path

import pytest

from tabhub.browser.launcher import installation
from tabhub.browser.launcher.installation import install_extension
from tabhub.config import secret
from tabhub.config.paths import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "packaged"
    (folder / "worker").mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    (folder / "worker" / "main.js").write_text("main")
    monkeypatch.setattr(installation, "_IN_WHEEL", folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    paths = filter(Path.is_file, folder.rglob("*"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    return {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in folder.rglob("*")}


def test_the_installed_copy_has_the_files_of_the_package(home: Home, packaged: Path) -> None:
    assert install_extension(home) == home.extension
    assert contents(home.extension) == contents(packaged)
    assert contents(home.managed_extension) == contents(packaged)


def test_files_for_developers_are_left_out(home: Home, packaged: Path) -> None:
    for name in ("README.md", "jsconfig.json", "tsconfig.json", "auth.json", "a.test.js"):
        (packaged / name).write_text("x")
    (packaged / "tests").mkdir()
    (packaged / "tests" / "worker.js").write_text("x")
    install_extension(home)
    assert set(contents(home.extension)) == {"manifest.json", "worker/main.js"}


def test_installing_again_changes_nothing(home: Home, packaged: Path) -> None:
    install_extension(home)
    before = stamps(home.extension)
    install_extension(home)
    assert stamps(home.extension) == before


def test_only_a_changed_file_is_written(home: Home, packaged: Path) -> None:
    install_extension(home)
    manifest = (home.extension / "manifest.json").stat().st_mtime_ns
    (packaged / "worker" / "main.js").write_text("newer")
    install_extension(home)
    assert (home.extension / "worker" / "main.js").read_text() == "newer"
    assert (home.extension / "manifest.json").stat().st_mtime_ns == manifest


def test_obsolete_files_are_removed_and_auth_stays(home: Home, packaged: Path) -> None:
    install_extension(home)
    auth = secret.prepare(home, 9515)
    (packaged / "worker" / "main.js").unlink()
    (packaged / "worker").rmdir()
    (packaged / "worker").write_text("a file now")
    install_extension(home)
    for copy in (home.extension, home.managed_extension):
        assert set(contents(copy)) == {"manifest.json", "worker", "auth.json"}
    assert secret.load(home) == auth


def test_a_file_that_another_process_is_writing_is_left_alone(home: Home, packaged: Path) -> None:
    half = home.extension / ".manifest.json.x1"
    half.write_text("half")
    install_extension(home)
    assert half.read_text() == "half"


def test_a_copy_linked_to_the_source_is_left_alone(tmp_path: Path, packaged: Path) -> None:
    (packaged / "README.md").write_text("x")
    home = Home(tmp_path / "linked")
    home.root.mkdir()
    home.extension.symlink_to(packaged)
    install_extension(home)
    assert "README.md" in contents(packaged)
