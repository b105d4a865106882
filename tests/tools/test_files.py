"""Where tools may save files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.config.paths import Home
from tabhub.config.settings import DownloadSettings, Settings, UploadSettings
from tabhub.errors import Forbidden, InvalidArguments
from tabhub.tools.files import (
    BROWSER_FOLDER,
    Files,
    OwnFiles,
    ToolFolders,
    folder_name,
    save,
)
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import connected, tab
from tests.support.examples import examples
from tests.support.serving import client, served

PNG = (".png",)


@pytest.mark.parametrize("folder", [None, "relative/folder"])
def test_without_a_folder_nothing_is_saved(folder: str | None) -> None:
    with pytest.raises(Forbidden) as refused:
        Files(lambda: folder, OwnFiles()).place("a.png", PNG)
    assert refused.value.reason == "permission_off"


@pytest.mark.parametrize(
    "path", ["../a.png", "/etc/a.png", "in/../../a.png", "link/a.png", ".", "~/../a.png/../../x"]
)
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(Forbidden) as refused:
        Files(lambda: str(folder), OwnFiles()).place(path, PNG)
    assert refused.value.reason == "permission_denied"


@pytest.mark.parametrize(
    "path", ["a", "a.sh", "a.png.sh", "a\0.png", "old.png", "x" * 300 + ".png"]
)
def test_an_invalid_name_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "old.png").write_bytes(b"old")
    with pytest.raises(InvalidArguments):
        Files(lambda: str(tmp_path), OwnFiles()).place(path, PNG)
    assert (tmp_path / "old.png").read_bytes() == b"old"


@pytest.mark.parametrize("name", ["a.PNG", "deep/er/a.png", "{folder}/a.png"])
def test_a_new_file_below_the_folder_is_written(tmp_path: Path, name: str) -> None:
    path = Files(lambda: str(tmp_path), OwnFiles()).place(name.format(folder=tmp_path), PNG)
    save(path, b"new")
    assert path.read_bytes() == b"new" and path.is_relative_to(tmp_path)


def test_a_file_created_in_the_meantime_is_not_changed(tmp_path: Path) -> None:
    path = Files(lambda: str(tmp_path), OwnFiles()).place("a.png", PNG)
    path.write_bytes(b"theirs")
    with pytest.raises(InvalidArguments, match="already"):
        save(path, b"ours")
    assert path.read_bytes() == b"theirs"


def test_a_failed_write_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InvalidArguments, match="cannot be written"):
        save(tmp_path / "file" / "a.png", b"new")


def test_in_a_home_only_the_folders_for_tools_are_used_unless_they_are_links(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    (home / "downloads").mkdir(parents=True)
    (home / "profile").mkdir()
    (tmp_path / "link").symlink_to(home)
    own = OwnFiles([home])
    above = Files(lambda: str(tmp_path), own)
    for path in ("home/a.png", "home/profile/a.png", "home/downloads.png", "link/a.png"):
        with pytest.raises(Forbidden, match="own files"):
            above.place(path, PNG)
    downloads = Files(lambda: str(home / "downloads"), own)
    assert downloads.place("deep/a.png", PNG) == home / "downloads" / "deep" / "a.png"
    (home / "downloads").rmdir()
    (home / "downloads").symlink_to(home / "profile")
    with pytest.raises(Forbidden, match="is a link"):
        downloads.place("a.png", PNG)


def test_a_download_is_moved_below_the_folder_and_overwrites_nothing(tmp_path: Path) -> None:
    files = Files(lambda: str(tmp_path / "saved"), OwnFiles())
    for name in ("a.bin", "a (1).bin"):
        (tmp_path / "a.bin").write_bytes(name.encode())
        moved = files.take_in(tmp_path / "a.bin", "deep/a.bin")
        assert moved == tmp_path / "saved" / "deep" / name
        assert moved.read_bytes() == name.encode() and not (tmp_path / "a.bin").exists()
        assert files.take_in(moved, "elsewhere.bin") == moved


def test_a_download_that_is_not_there_or_is_a_link_stays(tmp_path: Path) -> None:
    files = Files(lambda: str(tmp_path / "saved"), OwnFiles())
    (tmp_path / "link").symlink_to(__file__)
    for file in (tmp_path / "nothing", tmp_path / "link"):
        assert files.take_in(file, "a") == file
    assert Files(lambda: None, OwnFiles()).take_in(Path(__file__), "a") == Path(__file__)
    assert not (tmp_path / "saved").exists()


def test_a_download_never_goes_to_or_comes_from_a_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "secret").write_text("s")
    (tmp_path / "a.bin").write_text("a")
    own = OwnFiles([home])
    for name in ("home/policy.toml", "../up", "/etc/passwd"):
        with pytest.raises(Forbidden):
            Files(lambda: str(tmp_path), own).require_name(name)
    with pytest.raises(Forbidden, match="own files"):
        Files(lambda: str(home), own).require_name("a.bin")
    with pytest.raises(Forbidden, match="own files"):
        Files(lambda: str(tmp_path / "saved"), own).take_in(home / "secret", "a")
    with pytest.raises(Forbidden, match="own files"):
        Files(lambda: str(home), own).take_in(tmp_path / "a.bin", "a.bin")


def test_a_download_of_tabhubs_own_browser_is_moved_to_the_folder_of_its_client(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home").create()
    own, folders = OwnFiles([home.root]), ToolFolders(home, Settings())
    browser = home.downloads / BROWSER_FOLDER
    browser.mkdir()
    (browser / "a.bin").write_text("a")
    ann = Files(lambda: folders.downloads("ann"), own)
    moved = ann.take_in(browser / "a.bin", "a.bin")
    assert moved == home.downloads / "ann" / "a.bin" and moved.read_text() == "a"
    with pytest.raises(Forbidden, match="own files"):
        Files(lambda: folders.downloads("bob"), own).take_in(moved, "a.bin")
    assert Files(folders.browser_downloads, own).folder == browser


def test_the_folders_of_a_client_by_the_settings(tmp_path: Path) -> None:
    home = Home(tmp_path)
    folders = ToolFolders(home, Settings())
    mine, shared = str(tmp_path / "downloads" / "ann"), str(tmp_path / "uploads")
    assert (folders.downloads("ann"), folders.uploads("ann")) == (mine, [mine, shared])
    for folder in (None, "/saved"):
        settings = Settings(downloads=DownloadSettings(folder=folder))
        folders = ToolFolders(home, settings)
        assert (folders.downloads("ann"), folders.uploads("ann")) == (folder, [shared])
        assert folders.browser_downloads() == folder
    more = ToolFolders(home, Settings(uploads=UploadSettings(folders=["/given"])))
    assert more.uploads("ann") == [mine, shared, "/given"]
    assert ToolFolders(home, Settings(uploads=UploadSettings(folders=None))).uploads("ann") == []
    homeless = ToolFolders(None, Settings())
    assert (homeless.downloads("ann"), homeless.uploads("ann")) == (None, [])


@pytest.mark.parametrize("name", ["main", "sse", "claude-code", "a_1", "0"])
def test_the_folder_of_a_plain_name_is_called_like_it(name: str) -> None:
    assert folder_name(name) == name


NAMES = st.one_of(
    st.text(),
    st.sampled_from(["bob", "Bob", "bob.", "bob ", "con", "CON", "com1", ".", "..", "", "a/b"]),
    st.sampled_from([BROWSER_FOLDER, "~", "a~b", "\0", "é", "e\u0301", "x" * 41, "x" * 4000]),
    st.text("abAB~_. ", max_size=3),
)


@examples(300)
@given(one=NAMES, other=NAMES)
def test_no_two_clients_share_a_folder_even_where_case_and_final_dots_do_not_count(
    one: str, other: str
) -> None:
    names = [folder_name(client) for client in (one, other)]
    for name in names:
        assert name.isascii() and name == name.lower() == Path(name).name.rstrip(". ")
        assert 0 < len(name) <= 80 and name != BROWSER_FOLDER
        assert name.partition(".")[0] not in ("con", "prn", "aux", "nul", "com1", "lpt1")
        assert folder_name(name) == name or "~" in folder_name(name)
    assert (one == other) is (names[0] == names[1])


@pytest.mark.parametrize(
    "name", ["browser_screenshot_tab", "browser_print_pdf", "browser_export_har"]
)
async def test_an_empty_path_is_an_invalid_argument(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / "home").create()
    async with (
        served(home=home) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(tab(1), kind="managed")
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call(name, filePath="", tabId=1)
    assert failed.value.reason == "invalid_arguments"


def test_a_file_that_was_moved_before_a_restart_is_found(tmp_path: Path) -> None:
    files = Files(lambda: str(tmp_path / "saved"), OwnFiles())
    downloaded = tmp_path / "a.bin"
    downloaded.write_bytes(b"a")
    assert files.moved_here(downloaded) is None
    moved = files.take_in(downloaded, "a.bin")
    assert files.moved_here(downloaded) == str(moved)
    assert files.moved_here(tmp_path / "other.bin") is None
